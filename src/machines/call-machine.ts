// A call's life: pending → in_progress → completed | failed, never backwards. A pending call may fail too (its task ended).
import { setup } from 'xstate'
import { type CallStatus, callStatuses } from '../entities/call.ts'

export const callEvents = ['begin', 'complete', 'fail'] as const
export type CallEventName = (typeof callEvents)[number]

export const callTransitions: Readonly<Record<CallStatus, Readonly<Partial<Record<CallEventName, CallStatus>>>>> = {
  pending: { begin: 'in_progress', fail: 'failed' },
  in_progress: { complete: 'completed', fail: 'failed' },
  completed: {},
  failed: {},
}

/** The state that an event leads to, or undefined where the table has no such edge. */
export function nextCallStatus(from: CallStatus, event: CallEventName): CallStatus | undefined {
  return callTransitions[from][event]
}

/** The states of an entry that has no outcome yet. */
export const openCallStatuses: readonly CallStatus[] = callStatuses.filter(
  (status) => Object.keys(callTransitions[status]).length > 0,
)

export const callMachine = setup({ types: { events: {} as { type: CallEventName } } }).createMachine({
  id: 'call',
  initial: 'pending',
  states: Object.fromEntries(
    callStatuses.map((status) => [
      status,
      openCallStatuses.includes(status) ? { on: { ...callTransitions[status] } } : { type: 'final' as const },
    ]),
  ) as Record<CallStatus, object>,
})
