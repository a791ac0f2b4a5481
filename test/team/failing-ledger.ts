// A ledger that fails, or dies, in the middle of a step: at its n-th statement, when all before it have been written. What it does to
// the process is for the test to say; the engine knows nothing of it.

import type { Ledger, Op, Step } from '../../src/ledger/ledger.ts'
import { delegateLedger } from '../../src/testing/delegate-ledger.ts'

export interface Midway {
  /** Name of the step. */
  step: string
  /** Statements of its writing that are done before it strikes; as many as there are: after the last, before the commit. Null: never. */
  after: number | null
  strike(): void
}

/**
 * Strikes each time that the step comes so far, for a step that failed is tried again by itself; `midway.after` may be changed.
 * `statements()` counts those of the step's last writing.
 */
export function failingLedger(inner: Ledger, midway: Midway): { ledger: Ledger; statements(): number } {
  let counted = 0
  function* counting<R>(write: Op<R>): Op<R> {
    counted = 0
    for (let next = write.next(); ; ) {
      if (counted === midway.after) midway.strike()
      if (next.done) return next.value
      counted++
      next = write.next(yield next.value)
    }
  }
  const ledger = delegateLedger(inner, {
    step<R>(step: Step<R>): Promise<R> {
      if (step.name !== midway.step) return inner.step(step)
      return inner.step({
        name: step.name,
        decide: (tx) => counting(step.decide(tx)),
      })
    },
  })
  return { ledger, statements: () => counted }
}
