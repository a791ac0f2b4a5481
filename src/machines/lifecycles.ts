// The lifecycles of a run, a call, an objective, a stint and an engine, as plain data. Charts, diagrams, the checks of steps and the
// conditions of the ledger's statements derive from these tables.
import { type CallStatus, callStatuses } from '../entities/call.ts'
import type { RunStatus } from '../entities/run.ts'
import type { ObjectiveStatus, StintStatus } from '../entities/team.ts'

/** For each state the events that it accepts and the next state of each. Other events are refused; a state without exits is final. */
export type Transitions<Status extends string, Event extends string> = Readonly<
  Record<Status, Readonly<Partial<Record<Event, Status>>>>
>

/** A run whose executor settles by itself goes from live to closed at once. */
export const runTransitions: Transitions<RunStatus, 'end' | 'close'> = {
  live: { end: 'ending', close: 'closed' },
  ending: { close: 'closed' },
  closed: {},
}

/** A pending call fails when its task ends. */
export const callTransitions: Transitions<CallStatus, 'begin' | 'complete' | 'fail'> = {
  pending: { begin: 'in_progress', fail: 'failed' },
  in_progress: { complete: 'completed', fail: 'failed' },
  completed: {},
  failed: {},
}

/** The states of an entry that has no outcome yet. */
export const openCallStatuses: readonly CallStatus[] = callStatuses.filter(
  (status) => Object.keys(callTransitions[status]).length > 0,
)

type ObjectiveEvent = 'reopen' | 'start' | 'finish' | 'block'

/**
 * Any state may follow any other (the design draws fewer arrows, but its examples use all). Keeping the state is not a
 * transition.
 */
export const objectiveTransitions: Transitions<ObjectiveStatus, ObjectiveEvent> = {
  todo: { start: 'active', finish: 'done', block: 'blocked' },
  active: { reopen: 'todo', finish: 'done', block: 'blocked' },
  done: { reopen: 'todo', start: 'active', block: 'blocked' },
  blocked: { reopen: 'todo', start: 'active', finish: 'done' },
}

/** The event that leads from one state to another; undefined from a state to itself. */
export function objectiveEventBetween(from: ObjectiveStatus, to: ObjectiveStatus): ObjectiveEvent | undefined {
  const events = Object.keys(objectiveTransitions[from]) as ObjectiveEvent[]
  return events.find((event) => objectiveTransitions[from][event] === to)
}

/** A completed stint is final: an agent that joins again begins another stint. */
export const stintTransitions: Transitions<StintStatus, 'complete'> = {
  active: { complete: 'completed' },
  completed: {},
}

export type SupervisorEvent = 'work' | 'drain' | 'close'

/** An engine stands by or works, and drains before it is closed. */
export const supervisorTransitions: Transitions<'standby' | 'working' | 'draining' | 'closed', SupervisorEvent> = {
  standby: { work: 'working', close: 'closed' },
  working: { drain: 'draining' },
  draining: { close: 'closed' },
  closed: {},
}
