// The goals of a plan, and the models that their agents use. Pure; which model there is besides those that the plan names is handed in.
import { isGoal, type PlanTask } from './plan.ts'

/** Nothing works on it until there is a model. */
export function lacksModel(task: PlanTask, defaultModel: string | undefined): boolean {
  return isGoal(task) && task.spec.model === undefined && defaultModel === undefined
}

/** The models that agents of these tasks would use. */
export function modelsOf(tasks: readonly PlanTask[], defaultModel: string | undefined): string[] {
  return [...new Set(tasks.filter(isGoal).flatMap(({ spec }) => spec.model ?? defaultModel ?? []))]
}
