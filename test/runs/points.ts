// The points of a journal: a test is notified of each call that begins or ends as soon as it is durable, before its run
// is.

import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger, Step } from '../../src/ledger/ledger.ts'

/** Steps that are points of a journal. */
const isPoint = ({ name }: { name: string }): boolean => name === 'begin call' || name === 'finish call'

/**
 * Calls back when the n-th point has become durable, before its run is notified: awaiting something there delays the
 * run.
 */
export function watchPoints(inner: Ledger, at: number, reached: () => Promise<unknown>): Ledger {
  let points = 0
  return delegateLedger(inner, {
    async step<R>(step: Step<R>): Promise<R> {
      const result = await inner.step(step)
      if (isPoint(step) && ++points === at) await reached()
      return result
    },
  })
}
