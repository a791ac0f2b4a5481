// The time of an engine, for those who have nothing else of it: that of its ledger, which may be on another host.
import { type Clock, systemClock } from '../core/clock.ts'

const clocks = new WeakMap<object, Pick<Clock, 'now'>>()

/** Called by an engine when it is created. */
export function offerTime(engine: object, clock: Pick<Clock, 'now'>): void {
  clocks.set(engine, clock)
}

/** Epoch milliseconds: what a due time that is stored in the ledger of the engine begins from. */
export function timeOf(engine: object): number {
  return (clocks.get(engine) ?? systemClock).now()
}
