// What follows from the table of a task: the states that accept an event, and the refusal of all others.
import { ErrandError } from '../core/errors.ts'
import { awaitsChildren, type TaskRecord, type TaskStatus } from '../entities/task.ts'
import { statesIn } from './decide.ts'
import type { TaskEventName } from './task-machine.ts'
import { taskEdges } from './task-table.ts'

/** The state that an event leads to; undefined when there is no such transition. */
export function nextStatus(from: TaskStatus, event: TaskEventName): TaskStatus | undefined {
  return taskEdges[from][event]
}

/** The events that a state accepts. */
export function acceptedEvents(from: TaskStatus): TaskEventName[] {
  return Object.keys(taskEdges[from]) as TaskEventName[]
}

/** The states that accept an event. */
export function statesAccepting(event: TaskEventName): TaskStatus[] {
  return statesIn(taskEdges, event)
}

/** The event that leads from one state to another; undefined when there is none. */
export function eventBetween(from: TaskStatus, to: TaskStatus): TaskEventName | undefined {
  return acceptedEvents(from).find((event) => taskEdges[from][event] === to)
}

/** The event that leads a resting task back to WORKING. */
export function wayToWorking(from: TaskStatus): TaskEventName | undefined {
  return eventBetween(from, 'working')
}

/** What a transition is judged by. */
type Judged = Pick<TaskRecord, 'id' | 'status' | 'statusReason'>

/**
 * The state that an event leads to.
 * @throws ErrandError INVALID_TRANSITION { taskId, from, event, allowed } when there is no such transition.
 */
export function requireTransition(task: Judged, event: TaskEventName): TaskStatus {
  return nextStatus(task.status, event) ?? refuseTransition(task, event)
}

const statusesToHold: ReadonlySet<TaskStatus> = new Set(['submitted', 'input_required', 'waiting'])
const howToHold = 'Only a working task can be paused. To hold it back, `block` it by another task.'

/** Throws INVALID_TRANSITION with the events that the state accepts. `to` is the state that was requested by name. */
export function refuseTransition(task: Judged, event: string, to?: TaskStatus): never {
  const allowed = acceptedEvents(task.status)
  const accepts =
    allowed.length === 0
      ? `${task.status} is final.`
      : `From ${task.status} a task accepts: ${allowed.map((name) => `${name} (→ ${nextStatus(task.status, name)})`).join(', ')}.`
  const isPause = event === 'pause' || to === 'paused'
  // A task that only waits for its children has no work to hold back, and `block` is refused.
  const canBeHeld = statusesToHold.has(task.status) && !awaitsChildren(task)
  const instead = isPause && canBeHeld ? ` ${howToHold}` : ''
  throw new ErrandError(
    'INVALID_TRANSITION',
    `Cannot ${to === undefined ? event : `move to ${to}`} ${task.id}: it is ${task.status}. ${accepts}${instead}`,
    { taskId: task.id, from: task.status, event, allowed, ...(to === undefined ? {} : { to }) },
  )
}
