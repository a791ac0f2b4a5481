// Before a round is made: can the models that its goals name be had? A key that is missing should be told before anything has been
// created.
import { isSettled } from '../../entities/task.ts'
import { modelsOf } from './goal-tasks.ts'
import type { ModelSource } from './model-source.ts'
import { flatten, type PlanTask } from './plan.ts'
import type { KnownRound } from './plan-round.ts'
import type { RunPlan } from './run-request.ts'

/** @throws ErrandError NO_MODEL { variable }, INVALID_INPUT, NOT_FOUND, NOT_OFFERED */
export async function requireModels(
  { plan, needed, redo, model }: RunPlan,
  known: KnownRound,
  models: ModelSource,
): Promise<void> {
  const toDo = flatten(plan.tasks).filter(
    (task) => needed.has(task.path) && (redo.has(task.path) || isOpen(task, known)),
  )
  for (const each of modelsOf(toDo, model)) await models.choose(each)
}

/** It is not there yet, or has something left to do; a failed one gets a new attempt. */
function isOpen({ path }: PlanTask, { newest }: KnownRound): boolean {
  const task = newest.get(path)?.task
  return task === undefined || task.status === 'failed' || !isSettled(task.status)
}
