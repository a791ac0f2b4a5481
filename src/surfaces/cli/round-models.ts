// Before a round is made: are there the models that its goals need? A key that is missing should be told before anything has been
// created, and no agent that has begun should fail for want of a flag.
import { isSettled } from '../../entities/task.ts'
import { ErrandError } from '../../errors.ts'
import { lacksModel, modelsOf } from './goal-tasks.ts'
import { howToGiveModel, type ModelSource } from './model-source.ts'
import { flatten, type PlanTask } from './plan.ts'
import type { KnownRound } from './plan-round.ts'
import type { RunPlan } from './run-request.ts'

/** @throws ErrandError NO_MODEL { task } or { variable }, INVALID_INPUT, NOT_FOUND, NOT_OFFERED */
export async function requireModels(
  { plan, needed, redo, model }: RunPlan,
  known: KnownRound,
  models: ModelSource,
): Promise<void> {
  const toDo = flatten(plan.tasks).filter(
    (task) => needed.has(task.path) && (redo.has(task.path) || isOpen(task, known)),
  )
  const begun = toDo.find((task) => lacksModel(task) && known.newest.get(task.path)?.task.executor === 'agent')
  if (begun !== undefined) {
    throw new ErrandError(
      'NO_MODEL',
      `"${begun.path}" is an agent's, made when there was a model, and now there is none. ${howToGiveModel}`,
      { task: begun.path },
    )
  }
  for (const each of modelsOf(toDo, model)) await models.choose(each)
}

/** It is not there yet, or has something left to do; a failed one gets a new attempt. */
function isOpen({ path }: PlanTask, { newest }: KnownRound): boolean {
  const task = newest.get(path)?.task
  return task === undefined || task.status === 'failed' || !isSettled(task.status)
}
