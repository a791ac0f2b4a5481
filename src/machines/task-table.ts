// The table of fifteen edges, derived from the machine of a task. It is data: the page is built with it instead of XState.
import type { EventType } from '../entities/event.ts'
import { type TaskStatus, taskStatuses } from '../entities/task.ts'
import { edgesOf } from './decide.ts'
import { type TaskEventName, taskEvents, taskMachine } from './task-machine.ts'

/** For each state the events that it accepts, with the next state of each, in the order of the machine. */
export const taskEdges = edgesOf(taskMachine) as Readonly<
  Record<TaskStatus, Readonly<Partial<Record<TaskEventName, TaskStatus>>>>
>

/** The type of the durable event of each transition. */
export const publishedAs = Object.fromEntries(taskEvents.map((event) => [event, recordedAs(event)])) as Readonly<
  Record<TaskEventName, EventType>
>

function recordedAs(event: TaskEventName): EventType | undefined {
  for (const status of taskStatuses) {
    for (const { actions } of taskMachine.states[status]?.on[event] ?? []) {
      for (const action of actions) {
        if (typeof action === 'object' && 'type' in action && action.type === 'record')
          return (action.params as { as: EventType }).as
      }
    }
  }
  return undefined
}
