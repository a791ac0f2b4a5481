// Conditions of a change, checked in the transaction of the step itself, because a task may be moved or changed between the request and the
// step. A model may touch only its own task and those below it; a version must be the one that the caller read.

import { ErrandError } from '../../core/errors.ts'
import { type Op, type Reads, type Step, step } from '../../ledger/ledger.ts'
import { loadTask } from './step-context.ts'

/** @throws ErrandError FORBIDDEN { taskId, scope } for a task that is neither `scope` nor below it; also for an unknown task. */
export function* requireWithin(tx: Reads, scope: string, ids: readonly string[]): Op<void> {
  for (const id of ids) {
    if (id === scope || (yield* tx.task.ancestors(id)).some((above) => above.id === scope)) continue
    throw new ErrandError(
      'FORBIDDEN',
      `${scope} may only touch itself and the tasks below it, and ${id} is not one of them. Name a task of its own subtree.`,
      { taskId: id, scope },
    )
  }
}

/** Refuses the step unless all tasks it names are within the scope. Null: no check. */
export function within<R>(judged: Step<R>, scope: string | null, ids: readonly string[]): Step<R> {
  if (scope === null) return judged
  return step(judged.name, function* (tx) {
    yield* requireWithin(tx, scope, ids)
    return yield* judged.decide(tx)
  })
}

/**
 * Refuses the step if the task was written since the given version was read. Undefined: no check.
 * @throws ErrandError VERSION_CONFLICT { taskId, expected, actual }
 */
export function expecting<R>(judged: Step<R>, taskId: string, expected: number | undefined): Step<R> {
  if (expected === undefined) return judged
  return step(judged.name, function* (tx) {
    const { version } = yield* loadTask(tx, taskId)
    if (version !== expected) {
      throw new ErrandError(
        'VERSION_CONFLICT',
        `Cannot ${judged.name} ${taskId}: it is at version ${version}, and version ${expected} was expected. Read it again and repeat the change.`,
        { taskId, expected, actual: version },
      )
    }
    return yield* judged.decide(tx)
  })
}
