// A ledger that ends its process with SIGKILL at the n-th step: before it is taken up, or as soon as it is durable and before
// anybody has heard. The fault is in the port; the engine knows nothing of it.

import type { Ledger, LedgerObserver, Op, Step } from '../../src/ledger/ledger.ts'
import { delegateLedger } from '../../src/testing/delegate-ledger.ts'

export interface Death {
  step: number
  when: 'before' | 'after'
}

export function createMortalLedger(inner: Ledger, death: Death | undefined): { ledger: Ledger; steps(): string[] } {
  const steps: string[] = []
  let armed = false
  const die = () => process.kill(process.pid, 'SIGKILL')
  const ledger = delegateLedger(inner, {
    step<R>(step: Step<R>): Promise<R> {
      if (steps.push(step.name) !== death?.step) return inner.step(step)
      if (death.when === 'before') die()
      const last: Step<R> = {
        ...step,
        *decide(tx): Op<R> {
          const result = yield* step.decide(tx)
          armed = true
          return result
        },
      }
      return inner.step(last).finally(die)
    },
    observe: (observer: LedgerObserver, options) =>
      inner.observe(
        {
          committed(events) {
            if (armed) die()
            observer.committed(events)
          },
          changed: () => observer.changed(),
          failed: (error) => observer.failed(error),
        },
        options,
      ),
  })
  return { ledger, steps: () => steps }
}
