// What the events of the feed hold, read with care: `data` is open, and an older or newer engine may have written it.
import type { TaskEvent } from '../../entities/event.ts'
import { type TaskStatus, taskStatuses } from '../../entities/task.ts'

/** The task's state after the event. */
export function statusAfter(event: TaskEvent): TaskStatus | undefined {
  const status = event.data['status']
  return taskStatuses.find((known) => known === status)
}

/** A text of the event's data; empty when there is none. */
export function textOf(event: TaskEvent, field: string): string {
  const value = event.data[field]
  return typeof value === 'string' ? value : ''
}

/** The message of the error that an event carries; empty when there is none. */
export function errorMessageOf(event: TaskEvent): string {
  const error = event.data['error']
  if (typeof error === 'string') return error
  const message = (error as { message?: unknown } | null | undefined)?.message
  return typeof message === 'string' ? message : ''
}

/** Output that the event stores. */
export function outputOf(event: TaskEvent): string {
  return event.type === 'output.written' ? textOf(event, 'text') : ''
}

/** The task failed for now, and its retry policy gives it another attempt. */
export function willRetry(event: TaskEvent): boolean {
  return event.data['willRetry'] === true
}
