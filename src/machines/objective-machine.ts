// An objective's life: todo, active, done, blocked. The document draws arrows, its tests walk past them: any state may follow any
// other (conformance C-65), and only the set of states is held to. Staying where it is, is no transition.
import { setup } from 'xstate'
import { type ObjectiveStatus, objectiveStatuses } from '../entities/team.ts'

export const objectiveEvents = ['reopen', 'start', 'finish', 'block'] as const
export type ObjectiveEventName = (typeof objectiveEvents)[number]

export const objectiveTransitions: Readonly<
  Record<ObjectiveStatus, Readonly<Partial<Record<ObjectiveEventName, ObjectiveStatus>>>>
> = {
  todo: { start: 'active', finish: 'done', block: 'blocked' },
  active: { reopen: 'todo', finish: 'done', block: 'blocked' },
  done: { reopen: 'todo', start: 'active', block: 'blocked' },
  blocked: { reopen: 'todo', start: 'active', finish: 'done' },
}

/** The state that an event leads to, or undefined where the table has no such edge. */
export function nextObjectiveStatus(from: ObjectiveStatus, event: ObjectiveEventName): ObjectiveStatus | undefined {
  return objectiveTransitions[from][event]
}

/** The event that leads from one state to another; undefined from a state to itself. */
export function objectiveEventBetween(from: ObjectiveStatus, to: ObjectiveStatus): ObjectiveEventName | undefined {
  return objectiveEvents.find((event) => nextObjectiveStatus(from, event) === to)
}

export const objectiveMachine = setup({ types: { events: {} as { type: ObjectiveEventName } } }).createMachine({
  id: 'objective',
  initial: 'todo',
  states: Object.fromEntries(
    objectiveStatuses.map((status) => [status, { on: { ...objectiveTransitions[status] } }]),
  ) as Record<ObjectiveStatus, object>,
})
