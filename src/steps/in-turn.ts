// Several steps as parts of one: each is judged on what the ones before it have written, and where one is refused nothing of any
// stays (the ledger takes a step back as a whole).
import type { Op, Step, Tx } from '../ledger/ledger.ts'

/** Runs a step as a part of another one's writing. */
export function* inTurn<R>(tx: Tx, step: Step<R>): Op<R> {
  return yield* step.decide(tx)
}
