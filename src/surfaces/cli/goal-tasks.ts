// The goals of a plan: work for agents where there is a model, and for whoever claims it where there is none. Pure; which model
// there is besides those that the plan names is handed in.
import { flatten, isGoal, type Plan, type PlanTask, type PlanTaskSpec } from './plan.ts'

/** The plan with its goals as they can be worked on: without a model of its own and a default one, a goal waits to be claimed. */
export function withModel(plan: Plan, defaultModel: string | undefined): Plan {
  if (defaultModel !== undefined) return plan
  const tasks = plan.tasks.map(withoutDefault)
  return { ...plan, tasks, byPath: new Map(flatten(tasks).map((task) => [task.path, task])) }
}

function withoutDefault(task: PlanTask): PlanTask {
  const children = task.children.map(withoutDefault)
  const isForNobody = isGoal(task) && task.spec.model === undefined
  return { ...task, children, ...(isForNobody ? { spec: claimable(task.spec) } : {}) }
}

/** What means something only to the run of an agent would be refused. */
function claimable(spec: PlanTaskSpec): PlanTaskSpec {
  const { executor: _1, systemPrompt: _2, retry: _3, timeoutMs: _4, onInterrupt: _5, agentId: _6, ...kept } = spec
  return kept
}

/** It would be an agent's if there were a model for it. */
export function lacksModel({ spec }: PlanTask): boolean {
  return spec.goal !== undefined && spec.executor === undefined
}

/** The models that agents of these tasks would use. */
export function modelsOf(tasks: readonly PlanTask[], defaultModel: string | undefined): string[] {
  const goals = tasks.filter((task) => isGoal(task) && !lacksModel(task))
  return [...new Set(goals.flatMap(({ spec }) => spec.model ?? defaultModel ?? []))]
}
