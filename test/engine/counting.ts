// A ledger that counts the statements of chosen steps.

import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger, Step } from '../../src/ledger/ledger.ts'

/** Counts the statements of the steps of a name. */
export function counting(inner: Ledger, name: string, counted: { statements: number }): Ledger {
  const step = <R>(given: Step<R>): Promise<R> =>
    inner.step(
      given.name !== name
        ? given
        : {
            ...given,
            *decide(tx) {
              const statements = given.decide(tx)
              let turn = statements.next()
              while (!turn.done) {
                counted.statements++
                turn = statements.next(yield turn.value)
              }
              return turn.value
            },
          },
    )
  return delegateLedger(inner, { step })
}
