// The lifecycle of an objective. Any state may follow any other: the design draws fewer arrows, but its examples use all. Keeping the state
// is not a transition.
import { setup } from 'xstate'
import type { ObjectiveStatus } from '../../entities/team.ts'
import { edgesOf } from '../../machines/decide.ts'

type ObjectiveEvent = 'reopen' | 'start' | 'finish' | 'block'

export const objectiveMachine = setup({ types: { events: {} as { type: ObjectiveEvent } } }).createMachine({
  id: 'objective',
  initial: 'todo',
  states: {
    todo: { on: { start: 'active', finish: 'done', block: 'blocked' } },
    active: { on: { reopen: 'todo', finish: 'done', block: 'blocked' } },
    done: { on: { reopen: 'todo', start: 'active', block: 'blocked' } },
    blocked: { on: { reopen: 'todo', start: 'active', finish: 'done' } },
  },
})

const edges = edgesOf(objectiveMachine) as Record<ObjectiveStatus, Partial<Record<ObjectiveEvent, ObjectiveStatus>>>

/** The event that leads from one state to another; undefined from a state to itself. */
export function objectiveEventBetween(from: ObjectiveStatus, to: ObjectiveStatus): ObjectiveEvent | undefined {
  const events = Object.keys(edges[from]) as ObjectiveEvent[]
  return events.find((event) => edges[from][event] === to)
}
