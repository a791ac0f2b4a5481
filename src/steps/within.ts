// The bounds of a model: it touches its own task and what is below it, and nothing else. Checked in the transaction of the step
// itself, because a task may be moved between the asking and the doing.

import { ErrandError } from '../errors.ts'
import { type Op, type Reads, type Step, step } from '../ledger/ledger.ts'

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
