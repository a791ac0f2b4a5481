// Conditions of a change, judged in the transaction of the step itself. The bounds of a model: it touches its own task and what is below
// it, and nothing else; a task may be moved between the asking and the doing. And that a task is still as somebody has read it.

import { ErrandError } from '../core/errors.ts'
import { type Op, type Reads, type Step, step } from '../ledger/ledger.ts'
import { loadTask } from './step-context.ts'

/** @throws ErrandError FORBIDDEN { taskId, scope } for a task that is neither `scope` nor below it; unknown ones are told the same. */
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

/** The step, if all it names lies within a scope; unbounded without one. */
export function within<R>(judged: Step<R>, scope: string | null, ids: readonly string[]): Step<R> {
  if (scope === null) return judged
  return step(judged.name, function* (tx) {
    yield* requireWithin(tx, scope, ids)
    return yield* judged.decide(tx)
  })
}

/**
 * The step, if nothing has been written to the task since its version was read; unconditional without one.
 * @throws ErrandError VERSION_CONFLICT { taskId, expected, actual }
 */
export function expecting<R>(judged: Step<R>, taskId: string, expected: number | undefined): Step<R> {
  if (expected === undefined) return judged
  return step(judged.name, function* (tx) {
    const { version } = yield* loadTask(tx, taskId)
    if (version !== expected) {
      throw new ErrandError(
        'VERSION_CONFLICT',
        `Cannot ${judged.name} ${taskId}: it is at version ${version}, and version ${expected} was expected. Read it again, and decide anew.`,
        { taskId, expected, actual: version },
      )
    }
    return yield* judged.decide(tx)
  })
}
