// Formats the value of a line of JavaScript: tasks, events, runs, calls and reasons like the command line, other values with
// `inspect` of Node.
import { inspect } from 'node:util'
import { isoTime } from '../../core/clock.ts'
import type { Why } from '../../engine/engine-api.ts'
import type { Call } from '../../entities/call.ts'
import { eventTypes, type TaskEvent } from '../../entities/event.ts'
import type { RunRecord } from '../../entities/run.ts'
import { type Task, taskStatuses } from '../../entities/task.ts'
import type { TaskRow } from '../../operations/views/task-row.ts'
import { callText, errorMessageOf, textOf } from '../terminal/event-fields.ts'
import { callTable, describeTask, runTable } from '../terminal/task-details.ts'
import { shortId, type TaskNumbers } from '../terminal/task-labels.ts'
import { type ListedTask, taskTable } from '../terminal/task-table.ts'
import { cleanText, firstLine, fitWidth } from '../terminal/terminal-text.ts'
import { errorText } from './error-text.ts'

export interface FormatOptions {
  now: number
  columns: number | undefined
  colors: boolean
}

export function shownValue(value: unknown, options: FormatOptions): string {
  try {
    const lines = undefinedIfThrown(() => linesOf(value, options))
    return lines === undefined ? inspect(value, { colors: options.colors }) : lines.map(cleanText).join('\n')
  } catch (error) {
    return `The value cannot be shown. ${errorText(error)}`
  }
}

const maxTextLength = 200

/** `14:03:22 #12 lines task.paused: …`. The time is in UTC, as everywhere in the command line. */
export function eventLine(event: TaskEvent, numberOf: TaskNumbers): string {
  const details = fitWidth(detailsOf(event), maxTextLength)
  const name = firstLine(textOf(event, 'name'))
  return `${isoTime(event.at).slice(11, 19)} ${numberOf(event.taskId)} ${name} ${event.type}${details === '' ? '' : `: ${details}`}`
}

function detailsOf(event: TaskEvent): string {
  switch (event.type) {
    case 'question.asked':
      return firstLine(textOf(event, 'question'))
    case 'output.written':
      return firstLine(textOf(event, 'text'))
    case 'message.appended':
      return `of ${firstLine(textOf(event, 'role'))}`
    case 'call.started':
      return callText(event)
    default:
      return firstLine(errorMessageOf(event) || textOf(event, 'reason'))
  }
}

/** The value itself if it is a task, else its property `task`, as in the result of `handle`. */
export function taskIn(value: unknown): Task | undefined {
  return undefinedIfThrown(() => {
    if (isTask(value)) return value
    const inside = isObject(value) ? value['task'] : undefined
    return isTask(inside) ? inside : undefined
  })
}

function isTask(value: unknown): value is Task {
  return isTaskLike(value) && Array.isArray(value['questions'])
}

/** A value whose properties throw is not one of the known types. */
function undefinedIfThrown<T>(read: () => T | undefined): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function linesOf(value: unknown, { now, columns }: FormatOptions): string[] | undefined {
  if (isTask(value)) return describeTask(value)
  if (isRow(value)) return taskTable([listed(value)], now, columns)
  if (isWhy(value)) return [value.message]
  if (isEvent(value)) return [eventLine(value, shortId)]
  if (isPage(value)) return [...taskLines(value.tasks, now, columns), ...countLine(value)]
  if (!Array.isArray(value) || value.length === 0) return undefined
  if (value.every(isTaskLike)) return taskLines(value, now, columns)
  if (value.every(isEvent)) return value.map((event) => eventLine(event, shortId))
  if (value.every(isRun)) return runTable(value, columns)
  if (value.every(isCall)) return callTable(value, columns)
  return undefined
}

function taskLines(tasks: readonly unknown[], now: number, columns: number | undefined): string[] {
  const shown = tasks.map((task) => (isRow(task) ? listed(task) : (task as Task)))
  return shown.length === 0 ? ['no tasks'] : taskTable(shown, now, columns)
}

function countLine({ tasks, total }: { tasks: unknown[]; total: number | null }): string[] {
  return total === null || total <= tasks.length ? [] : [`${tasks.length} of ${total}`]
}

/** Converts a row for the table. A row has only the number of its blockers, and no lease. */
function listed(row: TaskRow): ListedTask {
  return { ...row, blockedBy: Array.from({ length: row.openBlockers }, () => ''), leaseUntil: null }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isTaskLike(value: unknown): value is Record<string, unknown> {
  if (!isObject(value) || typeof value['id'] !== 'string' || typeof value['seq'] !== 'number') return false
  return taskStatuses.some((status) => status === value['status']) && 'executor' in value && 'attempt' in value
}

function isRow(value: unknown): value is TaskRow {
  return isTaskLike(value) && typeof value['openBlockers'] === 'number'
}

function isPage(value: unknown): value is { tasks: unknown[]; total: number | null } {
  if (!isObject(value) || !Array.isArray(value['tasks']) || !('total' in value) || !('next' in value)) return false
  return value['tasks'].every(isTaskLike)
}

function isWhy(value: unknown): value is Why {
  if (!isObject(value)) return false
  return typeof value['message'] === 'string' && typeof value['reason'] === 'string' && Array.isArray(value['tasks'])
}

function isEvent(value: unknown): value is TaskEvent {
  if (!isObject(value) || !isObject(value['data']) || typeof value['at'] !== 'number') return false
  return eventTypes.some((type) => type === value['type'])
}

function isRun(value: unknown): value is RunRecord {
  return isObject(value) && typeof value['number'] === 'number' && 'outcome' in value && 'startedAt' in value
}

function isCall(value: unknown): value is Call {
  return isObject(value) && typeof value['name'] === 'string' && 'params' in value && 'onInterrupt' in value
}
