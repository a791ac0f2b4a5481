// The models that the goals of a plan need. They are resolved before anything is created, so that a missing key is reported first; goals
// without a model are noted.
import type { EngineOptions } from '../../engine/engine-api.ts'
import { isSettled } from '../../entities/task.ts'
import { isGoal, type PlanTask } from '../../plans/plan.ts'
import type { KnownRound } from '../../plans/round.ts'
import { howToGiveModel } from './model-source.ts'
import type { RunPlan } from './run-request.ts'

/** Names of the models that the agents of these tasks use. */
export function modelsOf(tasks: Iterable<PlanTask>, defaultModel: string | undefined): string[] {
  return [
    ...new Set(
      Array.from(tasks)
        .filter(isGoal)
        .flatMap(({ spec }) => spec.model ?? defaultModel ?? []),
    ),
  ]
}

/** Resolves the models of the tasks that are to run. @throws ErrandError NO_MODEL { variable }, INVALID_INPUT, NOT_FOUND, NOT_OFFERED */
export async function requireModels(
  { plan, needed, redo, model }: RunPlan,
  known: KnownRound,
  resolveModel: EngineOptions['resolveModel'],
): Promise<void> {
  const toDo = [...plan.byPath.values()].filter(
    (task) => needed.has(task.path) && (redo.has(task.path) || isOpen(task, known)),
  )
  for (const each of modelsOf(toDo, model)) await resolveModel?.(each)
}

/** True for a task that does not exist yet, is not settled, or failed and gets a new attempt. */
function isOpen({ path }: PlanTask, { newest }: KnownRound): boolean {
  const task = newest.get(path)?.task
  return task === undefined || task.status === 'failed' || !isSettled(task.status)
}

/** A note about the goals without a model, which wait for one. */
export function goalNotes({ plan, model }: Pick<RunPlan, 'plan' | 'model'>, known: KnownRound): string[] {
  const waiting = [...plan.byPath.values()].filter((task) => {
    const found = known.newest.get(task.path)?.task
    const lacksModel = isGoal(task) && (task.spec.model ?? model) === undefined
    return lacksModel && found !== undefined && !isSettled(found.status)
  })
  if (waiting.length === 0) return []
  const [has, it] = waiting.length === 1 ? ['has', 'it waits'] : ['have', 'they wait']
  return [
    `${waiting.map(({ path }) => `"${path}"`).join(', ')} ${has} a goal, and no model is configured, so ${it} for one. ${howToGiveModel} A plan may have \`model\` at its top, or on a task.`,
  ]
}
