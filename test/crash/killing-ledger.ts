// A ledger that kills its process with SIGKILL at the n-th step: before the step runs, or once it is durable and before any observer is
// notified. The fault is injected through the port, not by hooks in the engine.

import type { Ledger, LedgerObserver, Op, Step } from '../../src/ledger/ledger.ts'
import { delegateLedger } from '../../src/testing/delegate-ledger.ts'

export interface KillPoint {
  step: number
  when: 'before' | 'after'
}

export function createKillingLedger(
  inner: Ledger,
  point: KillPoint | undefined,
): { ledger: Ledger; steps(): string[] } {
  const steps: string[] = []
  let armed = false
  const kill = () => process.kill(process.pid, 'SIGKILL')
  const ledger = delegateLedger(inner, {
    step<R>(step: Step<R>): Promise<R> {
      if (steps.push(step.name) !== point?.step) return inner.step(step)
      if (point.when === 'before') kill()
      const last: Step<R> = {
        ...step,
        *decide(tx): Op<R> {
          const result = yield* step.decide(tx)
          armed = true
          return result
        },
      }
      return inner.step(last).finally(kill)
    },
    observe: (observer: LedgerObserver, options) =>
      inner.observe(
        {
          committed(events) {
            if (armed) kill()
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
