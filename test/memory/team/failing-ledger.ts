// A ledger that fails, or kills the process, in the middle of a step: at its n-th statement, after all before it were written. The test
// decides what happens then.

import { delegateLedger } from '../../../src/ledger/delegate-ledger.ts'
import type { Ledger, Op, Step } from '../../../src/ledger/ledger.ts'

export interface Midway {
  /** Name of the step. */
  step: string
  /** Number of statements before the failure; the total number: after the last, before the commit. Null: never. */
  after: number | null
  strike(): void
}

/**
 * Fails each time that the step gets so far, because a failed step is retried; `midway.after` may be changed. `statements()` counts those
 * of the step's last attempt.
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
        ...step,
        decide: (tx) => counting(step.decide(tx)),
      })
    },
  })
  return { ledger, statements: () => counted }
}
