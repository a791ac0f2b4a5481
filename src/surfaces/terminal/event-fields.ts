// Reads fields of events. `data` is untyped, and an older or newer engine may have written it, so every field is checked.
import type { TaskEvent } from '../../entities/event.ts'
import { failureSuffix, type TaskStatus, taskStatuses } from '../../entities/task.ts'
import { cleanLine, firstLine, fitWidth } from './terminal-text.ts'

/** The state of the task after the event. */
export function statusAfter(event: TaskEvent): TaskStatus | undefined {
  const status = event.data['status']
  return taskStatuses.find((known) => known === status)
}

/** A text field of the event's data; empty when missing. */
export function textOf(event: TaskEvent, field: string): string {
  const value = event.data[field]
  return typeof value === 'string' ? value : ''
}

/** The message of the event's error; empty without one. */
export function errorMessageOf(event: TaskEvent): string {
  const error = event.data['error']
  if (typeof error === 'string') return error
  const message = (error as { message?: unknown } | null | undefined)?.message
  return typeof message === 'string' ? message : ''
}

/** The stored output; empty for other events. */
export function outputOf(event: TaskEvent): string {
  return event.type === 'output.written' ? textOf(event, 'text') : ''
}

const maxArgumentsLength = 120

/** `calls fs:read {"path":"notes.md"}`, for the start of a call. */
export function callText(event: TaskEvent): string {
  return toolText(textOf(event, 'tool'), event.data['args'])
}

export function toolText(tool: string, args: unknown): string {
  const given = JSON.stringify(args) ?? ''
  const shown = given === '{}' || given === 'null' ? '' : ` ${fitWidth(cleanLine(given), maxArgumentsLength)}`
  return `calls ${cleanLine(tool)}${shown}`
}

/** `answered by ada (http)`: the caller and the surface of an answer. */
export function answeredText(event: TaskEvent): string {
  const by = event.data['answeredBy'] as { surface?: unknown; owner?: unknown; taskId?: unknown } | undefined
  const who = by?.owner ?? by?.taskId
  const from = typeof by?.surface === 'string' ? ` (${cleanLine(by.surface)})` : ''
  return `answered${typeof who === 'string' ? ` by ${cleanLine(who)}` : ''}${from}`
}

/** A failed step of a model, and whether the call is repeated. */
export function modelFailure(event: TaskEvent): string {
  const again = typeof event.data['againInMs'] === 'number' ? ' (calling it again)' : ''
  return `the model failed: ${firstLine(errorMessageOf(event))}${again}`
}

/** The task failed, and its retry policy gives it another attempt. */
function willRetry(event: TaskEvent): boolean {
  return event.data['willRetry'] === true
}

/** `failed: no such file (another attempt follows)`; `after` follows the word "failed". */
export function failureText(event: TaskEvent, after = ''): string {
  return `failed${after}${failureSuffix(firstLine(errorMessageOf(event)))}${willRetry(event) ? ' (another attempt follows)' : ''}`
}

/** `: out of time`, for an event with a reason; else empty. */
export function reasonText(event: TaskEvent): string {
  const reason = firstLine(textOf(event, 'reason') || textOf(event, 'statusReason'))
  return reason === '' ? '' : `: ${reason}`
}
