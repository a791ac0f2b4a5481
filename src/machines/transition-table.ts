// A task's lifecycle: eight states and fifteen edges as plain data. The chart, the refusals, the diagram and the state lists
// of the ledger's statements derive from this table; a test holds the migrated database against it.
import { ErrandError } from '../core/errors.ts'
import type { EventType } from '../entities/event.ts'
import { type TaskRecord, type TaskStatus, taskStatuses } from '../entities/task.ts'

/** The events of a task. */
export const taskEvents = [
  'start',
  'pause',
  'ask',
  'wait',
  'complete',
  'fail',
  'cancel',
  'resume',
  'answer',
  'unblock',
  'retry',
] as const
export type TaskEventName = (typeof taskEvents)[number]

type Exits = Readonly<Partial<Record<TaskEventName, TaskStatus>>>

/** In lifecycle order. Events that are not listed are refused. */
export const taskTransitions: Readonly<Record<TaskStatus, Exits>> = {
  submitted: { start: 'working', cancel: 'canceled' },
  working: {
    pause: 'paused',
    ask: 'input_required',
    wait: 'waiting',
    complete: 'completed',
    fail: 'failed',
    cancel: 'canceled',
  },
  paused: { resume: 'working', cancel: 'canceled' },
  input_required: { answer: 'working', cancel: 'canceled' },
  waiting: { unblock: 'working', cancel: 'canceled' },
  completed: {},
  failed: { retry: 'submitted' },
  canceled: {},
}

/** The type of the durable event of each transition. */
export const publishedAs: Readonly<Record<TaskEventName, EventType>> = {
  start: 'task.started',
  pause: 'task.paused',
  ask: 'task.input_required',
  wait: 'task.waiting',
  complete: 'task.completed',
  fail: 'task.failed',
  cancel: 'task.canceled',
  resume: 'task.started',
  answer: 'task.started',
  unblock: 'task.started',
  retry: 'task.retried',
}

/** Increased when a stored snapshot of an older machine can no longer be restored from the name of its state. */
export const taskMachineVersion = 1

/** The state that an event leads to; undefined when there is no such transition. */
export function nextStatus(from: TaskStatus, event: TaskEventName): TaskStatus | undefined {
  return taskTransitions[from][event]
}

/** The events that a state accepts. */
export function acceptedEvents(from: TaskStatus): TaskEventName[] {
  return Object.keys(taskTransitions[from]) as TaskEventName[]
}

/** The states that accept an event, for the WHERE of an UPDATE. */
export function statesAccepting(event: TaskEventName): TaskStatus[] {
  return taskStatuses.filter((status) => taskTransitions[status][event] !== undefined)
}

/** The event that leads from one state to another; undefined when there is none. */
export function eventBetween(from: TaskStatus, to: TaskStatus): TaskEventName | undefined {
  return acceptedEvents(from).find((event) => taskTransitions[from][event] === to)
}

/**
 * The state that an event leads to.
 * @throws ErrandError INVALID_TRANSITION { taskId, from, event, allowed } when there is no such transition.
 */
export function requireTransition(task: Judged, event: TaskEventName): TaskStatus {
  return nextStatus(task.status, event) ?? refuseTransition(task, event)
}

/** Its own work is done and its result stored; it waits for its children. */
export function awaitsChildren(task: Pick<TaskRecord, 'status' | 'statusReason'>): boolean {
  return task.status === 'waiting' && task.statusReason === 'children'
}

/** What a transition is judged by. */
type Judged = Pick<TaskRecord, 'id' | 'status' | 'statusReason'>

const statusesToHold: ReadonlySet<TaskStatus> = new Set(['submitted', 'input_required', 'waiting'])
const howToHold = 'Only a working task can be paused. To hold it back, `block` it by another task.'

/** Throws INVALID_TRANSITION with the events that the state accepts. `to` is the state that was requested by name. */
export function refuseTransition(task: Judged, event: string, to?: TaskStatus): never {
  const allowed = acceptedEvents(task.status)
  const accepts =
    allowed.length === 0
      ? `${task.status} is final.`
      : `From ${task.status} a task accepts: ${allowed.map((name) => `${name} (→ ${taskTransitions[task.status][name]})`).join(', ')}.`
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
