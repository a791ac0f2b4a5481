// Faults of a durable machine that a comparison with XState must find, planted between the engines and their ledger.

import type { MachineDetails } from '../../src/entities/machine.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger, NewCall, Step, Tx } from '../../src/ledger/ledger.ts'

/** The writes of all steps go through `altered`. */
const withAlteredWrites =
  (altered: (tx: Tx) => { call?: Partial<Tx['call']>; signal?: Partial<Tx['signal']> }) =>
  (inner: Ledger): Ledger =>
    delegateLedger(inner, {
      step: <R>(step: Step<R>) =>
        inner.step({
          ...step,
          decide: (tx: Tx) => {
            const { call = {}, signal = {} } = altered(tx)
            return step.decide({ ...tx, call: { ...tx.call, ...call }, signal: { ...tx.signal, ...signal } })
          },
        }),
    })

/** The delays of a machine are not stored. */
export const losesDelays = withAlteredWrites((tx) => {
  const withoutTimers = <C extends Pick<NewCall, 'kind' | 'details'>>(call: C): C => {
    if (call.kind !== 'machine') return call
    const details = call.details as MachineDetails
    return { ...call, details: { ...details, state: { ...details.state, timers: [] } } }
  }
  return {
    call: {
      insert: (call) => tx.call.insert(withoutTimers(call)),
      save: (call) => tx.call.save(withoutTimers(call)),
    },
  }
})

/** The first event stays, although its macrostep is written. */
export const takesAnEventTwice = (inner: Ledger): Ledger => {
  let isTaken = false
  return withAlteredWrites((tx) => ({
    signal: {
      *take(signal, by) {
        if (isTaken) yield* tx.signal.take(signal, by)
        isTaken = true
      },
      // A machine that rests takes it where it is sent.
      *insert(signal) {
        const stays = signal.takenBy !== null && !isTaken
        if (signal.takenBy !== null) isTaken = true
        return yield* tx.signal.insert(stays ? { ...signal, payload: true, takenBy: null } : signal)
      },
    },
  }))(inner)
}

/** The end of a child is not reported to its parent. */
export const forgetsItsChildren = withAlteredWrites((tx) => ({
  call: {
    *insert(call) {
      if (call.kind !== 'wait') yield* tx.call.insert(call)
    },
  },
}))

/** An action runs before its call is in the ledger. */
export const actsBeforeItsCommit = (inner: Ledger): Ledger =>
  delegateLedger(inner, {
    step<R>(step: Step<R>): Promise<R> {
      const writing = inner.step(step)
      return step.name === 'begin call' ? Promise.resolve(undefined as R) : writing
    },
  })
