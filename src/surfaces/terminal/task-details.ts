// Everything about a task as lines: its fields, runs, calls and conversation, and the progress of its team.

import { isoTime } from '../../core/clock.ts'
import { formatDuration } from '../../core/duration.ts'
import type { StoredCause, StoredError } from '../../core/errors.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { Call } from '../../entities/call.ts'
import { type Message, reasoningIn, usageOf } from '../../entities/message.ts'
import type { RunRecord } from '../../entities/run.ts'
import type { Task } from '../../entities/task.ts'
import { machineLines } from './machine-lines.ts'
import { shellCommand } from './shell-quote.ts'
import { type Columns, formatTable } from './table.ts'
import { ownerLabel, stateLabel, type TaskNumbers, taskLabel, taskNumber, taskNumbers } from './task-labels.ts'
import { contextOf } from './team-text.ts'
import { abridged, cleanLine, cleanText, firstLine, fitWidth } from './terminal-text.ts'

const timeFields: ReadonlySet<string> = new Set(['notBefore', 'deadline', 'leaseUntil'] satisfies Array<keyof Task>)

/** Number of open dependencies that are shown. */
const maxBlockers = 20

type TaskDetails = Awaited<ReturnType<typeof readTaskDetails>>

/** `team` is undefined for a task without a branch of memory. */
export async function readTaskDetails(engine: Engine, task: Task) {
  const [why, machine, runs, calls, messages, context, numberOf] = await Promise.all([
    engine.why(task.id),
    engine.machine(task.id),
    engine.runs(task.id, { generation: task.generation }),
    engine.calls(task.id, { generation: task.generation }),
    engine.messages(task.id),
    contextOf(engine, task.id),
    taskNumbers(engine, [
      ...[task.parentId, task.forkedFrom].filter((id) => id !== null),
      ...task.blockedBy.slice(0, maxBlockers),
    ]),
  ])
  const { branch, type } = context.task
  const team = branch === null ? undefined : { branch, type, progress: context.progress }
  return { task, why, machine, runs, calls, messages, team, numberOf }
}

/** Lines for `errand show`. */
export function formatTaskDetails(
  { task, why, machine, runs, calls, messages, team, numberOf }: TaskDetails,
  columns: number | undefined,
): string[] {
  return [
    headline(task),
    `  ${cleanText(why.message)}`,
    '',
    ...formatFields({ ...task, ...ownMetadata(task), ...numbersOf(task, numberOf), ...teamFields(task, team) }),
    ...(machine === null ? [] : ['', ...machineLines(machine, narrower(columns))]),
    ...section('runs', runs.length, runTable(runs, narrower(columns))),
    ...section('calls', calls.length, callTable(calls, narrower(columns))),
    ...describeConversation(messages),
  ]
}

/** The task without runs, calls and conversation, and with the ids of other tasks instead of their numbers. */
export function describeTask(task: Task): string[] {
  return [headline(task), ...formatFields({ ...task })]
}

function headline(task: Task): string {
  return `${taskLabel(task, Number.POSITIVE_INFINITY)}: ${stateLabel(task)}${task.owner === null ? '' : `, ${ownerLabel(task)}`}`
}

/** Values that say nothing. */
const usual: Readonly<Record<string, unknown>> = { createdBy: 'library', fence: 0, system: false }

/** The fields that are not empty and are not shown elsewhere. */
function formatFields({ seq: _seq, name: _name, ready: _ready, ...fields }: ShownFields): string[] {
  const shown = Object.entries(fields).filter(([field, value]) => !isEmpty(value) && value !== usual[field])
  const width = Math.max(...shown.map(([field]) => field.length))
  return shown.flatMap(([field, value]) => {
    const [first, ...rest] = formatValue(field, value).split('\n')
    return [`${field.padEnd(width)}  ${first}`, ...rest.map((line) => `${' '.repeat(width)}  ${line}`)]
  })
}

type ShownFields = Pick<Task, 'seq' | 'name' | 'ready'> & { readonly [field: string]: unknown }

/** Without what a plan keeps there of its task. */
function ownMetadata({ metadata }: Task): Pick<Task, 'metadata'> {
  const { plan: _plan, ...own } = metadata
  return { metadata: own }
}

function numbersOf({ parentId, forkedFrom, blockedBy }: Task, numberOf: TaskNumbers): Record<string, string | null> {
  const more = blockedBy.length > maxBlockers ? `, and ${blockedBy.length - maxBlockers} more (--json shows all)` : ''
  return {
    parentId: parentId === null ? null : numberOf(parentId),
    forkedFrom: forkedFrom === null ? null : numberOf(forkedFrom),
    blockedBy: `${blockedBy.slice(0, maxBlockers).map(numberOf).join(', ')}${more}`,
  }
}

function teamFields(task: Task, team: TaskDetails['team']): Record<string, string | null> {
  if (team === undefined) return {}
  const { total, done } = team.progress
  const objectives =
    total === 0 ? null : `${done} of ${total} done: "${shellCommand('errand', 'task', 'context', taskNumber(task))}"`
  return { branch: team.branch, type: team.type, objectives }
}

function formatValue(field: string, value: unknown): string {
  if (field === 'error') return errorLines(value as StoredError).join('\n')
  if (typeof value === 'number' && (field.endsWith('At') || timeFields.has(field))) return isoTime(value)
  return abridged(typeof value === 'string' ? value : JSON.stringify(value, null, 2))
}

/** An error with its code, details and stack, and below it each of its causes. */
function errorLines(error: StoredCause): string[] {
  const { name, code, message, stack, details, cause } = error
  const codeLabel = code === undefined ? '' : ` (${code})`
  const shown = details === undefined ? [] : [`details: ${abridged(JSON.stringify(details))}`]
  const below = cause === undefined ? [] : errorLines(cause)
  return [
    `${name === undefined ? '' : `${name}: `}${abridged(message)}${codeLabel}`,
    ...shown,
    ...framesOf(stack ?? ''),
    ...below.map((line, index) => (index === 0 ? `caused by ${line}` : line)),
  ]
}

/** The lines of a stack below the message, which is already shown. */
function framesOf(stack: string): string[] {
  return stack.split('\n').filter((line) => /^\s+at /.test(line))
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value as object).length === 0
}

/** The runs of a task, one per line. */
export function runTable(runs: readonly RunRecord[], columns?: number): string[] {
  const table: Columns<RunRecord> = {
    run: ({ number }) => number,
    attempt: ({ attempt }) => attempt,
    outcome: ({ outcome, status }) => outcome ?? status,
    started: ({ startedAt }) => isoTime(startedAt),
    took: ({ startedAt, endedAt }) => (endedAt === null ? '' : formatDuration(endedAt - startedAt)),
    error: ({ error }) => firstLine(error?.message ?? ''),
  }
  return formatTable(runs, table, columns)
}

/** The calls of a task, one per line. */
export function callTable(calls: readonly Call[], columns?: number): string[] {
  const table: Columns<Call> = {
    call: ({ name }) => (columns === undefined ? name : fitWidth(cleanLine(name), 40)),
    run: ({ run }) => run,
    status: ({ status }) => status,
    error: ({ error }) => firstLine(error?.message ?? ''),
  }
  return formatTable(calls, table, columns)
}

function section(title: string, count: number, lines: readonly string[]): string[] {
  return count === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]
}

/** Undefined for a pipe, in which nothing is cut. */
function narrower(columns: number | undefined): number | undefined {
  return columns === undefined ? undefined : columns - 2
}

/**
 * The messages and the token usage: lines below a heading, none for a task without messages. Announcements of calls are left out,
 * because calls are listed separately.
 */
export function describeConversation(messages: readonly Message[]): string[] {
  const shown = messages.filter((message) => !message.announcement)
  if (shown.length === 0) return []
  return ['', 'conversation', ...shown.flatMap(messageLines).map((line) => `  ${line}`), ...usageLines(messages)]
}

function messageLines({ role, content, step }: Message): string[] {
  const text = abridged(content)
  const calls = (step?.calls ?? []).map(({ ability }) => `calls ${cleanLine(ability)}`)
  const lines = text === '' ? [] : cleanText(text).split('\n')
  const { length = 0 } = reasoningIn(step) ?? {}
  const thought = length === 0 ? [] : [`(${length} characters of reasoning; --json has them)`]
  const [first = '', ...rest] = [...thought, ...lines, ...calls]
  return [`${role}: ${first}`, ...rest.map((line) => `  ${line}`)]
}

function usageLines(messages: readonly Message[]): string[] {
  const usage = usageOf(messages)
  if (usage === undefined) return []
  const { steps, inputTokens, outputTokens } = usage
  const models = [...new Set(messages.flatMap(({ step }) => step?.modelId ?? []))].filter((id) => id !== '')
  const tokens =
    inputTokens === null && outputTokens === null
      ? 'tokens unknown'
      : `${inputTokens ?? '?'} tokens in, ${outputTokens ?? '?'} out`
  return ['', `${steps} ${steps === 1 ? 'step' : 'steps'} of ${cleanLine(models.join(', ')) || 'its model'}: ${tokens}`]
}
