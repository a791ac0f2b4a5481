// The lifecycle of a call: recorded, begun, and ended with an outcome. A pending call fails when its task ends.
import { setup } from 'xstate'
import { type CallStatus, callStatuses } from '../entities/call.ts'
import { decider, edgesOf } from './decide.ts'

const actions = {
  /** A line of the conversation, if the call is announced to people. */
  announceStart: () => {},
  announceEnd: () => {},
  /** Its row is saved, and its event appended. */
  record: () => {},
}

const end = ['announceEnd', 'record'] as const

export const callMachine = setup({
  types: { events: {} as { type: 'begin' | 'complete' | 'fail' } },
  actions,
}).createMachine({
  id: 'call',
  initial: 'pending',
  states: {
    pending: {
      on: {
        begin: { target: 'in_progress', actions: ['announceStart', 'record'] },
        fail: { target: 'failed', actions: end },
      },
    },
    in_progress: {
      on: {
        complete: { target: 'completed', actions: end },
        fail: { target: 'failed', actions: end },
      },
    },
    completed: { type: 'final' },
    failed: { type: 'final' },
  },
})

export const callEdges = edgesOf(callMachine) as Readonly<Record<CallStatus, Readonly<Record<string, CallStatus>>>>
export const decideCall = decider(callMachine)
export type CallAction = keyof typeof actions

/** The states from which an event of a call leads to this one, for the WHERE of an UPDATE. */
export function callStatusesBefore(to: CallStatus): CallStatus[] {
  return callStatuses.filter((from) => Object.values(callEdges[from]).includes(to))
}

/** The states of an entry that has no outcome yet. */
export const openCallStatuses: readonly CallStatus[] = callStatuses.filter(
  (status) => Object.keys(callEdges[status]).length > 0,
)
