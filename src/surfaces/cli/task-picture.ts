// A task with all that belongs to it, in words: its fields, its runs and calls, its conversation and how far its team is.
import type { Engine, Why } from '../../api.ts'
import { isoTime } from '../../clock.ts'
import type { Call } from '../../entities/call.ts'
import type { Message } from '../../entities/message.ts'
import type { RunRecord } from '../../entities/run.ts'
import type { Task } from '../../entities/task.ts'
import type { TeamContext } from '../../team/context.ts'
import { describeConversation } from './conversation-text.ts'
import { formatDuration } from './duration.ts'
import { type Columns, formatTable } from './table.ts'
import { ownerWords, shortId, stateWord, taskLabel } from './task-words.ts'
import { contextOf } from './team-text.ts'
import { cleanLine, cleanText, firstLine, fitWidth } from './terminal-text.ts'

const longestValue = 2_000
const timeFields: ReadonlySet<string> = new Set(['notBefore', 'deadline', 'leaseUntil'] satisfies Array<keyof Task>)

export interface Picture {
  task: Task
  why: Why
  runs: RunRecord[]
  calls: Call[]
  messages: Message[]
  /** Of a task that has a branch of memory. */
  team?: TeamPicture | undefined
}

export interface TeamPicture {
  branch: string
  type: string | null
  progress: TeamContext['progress']
}

export async function takePicture(engine: Engine, task: Task): Promise<Picture> {
  const [why, runs, calls, messages, context] = await Promise.all([
    engine.why(task.id),
    engine.runs(task.id),
    engine.calls(task.id),
    engine.messages(task.id),
    contextOf(engine, task.id),
  ])
  const { branch, type } = context.task
  const team = branch === null ? undefined : { branch, type, progress: context.progress }
  return { task, why, runs, calls, messages, team }
}

/** All of it, in lines. */
export function describePicture(
  { task, why, runs, calls, messages, team }: Picture,
  columns: number | undefined,
): string[] {
  return [
    headline(task),
    `  ${cleanText(why.message)}`,
    '',
    ...formatFields(task, team),
    ...section('runs', runs.length, runTable(runs, narrower(columns))),
    ...section('calls', calls.length, callTable(calls, narrower(columns))),
    ...describeConversation(messages),
  ]
}

/** A task alone. */
export function describeTask(task: Task): string[] {
  return [headline(task), ...formatFields(task)]
}

function headline(task: Task): string {
  return `${taskLabel(task)}: ${stateWord(task)}${task.owner === null ? '' : `, ${ownerWords(task)}`}`
}

/** The fields that say something; those that are empty or stand elsewhere in the picture are left out. */
function formatFields(task: Task, team?: TeamPicture): string[] {
  const { seq: _seq, name: _name, ready: _ready, ...fields } = task
  const told = Object.entries({ ...fields, ...teamFields(task, team) }).filter(
    ([field, value]) => !isEmpty(value) && (field !== 'fence' || value !== 0),
  )
  const width = Math.max(...told.map(([field]) => field.length))
  return told.flatMap(([field, value]) => {
    const [first, ...rest] = formatValue(field, value).split('\n')
    return [`${field.padEnd(width)}  ${first}`, ...rest.map((line) => `${' '.repeat(width)}  ${line}`)]
  })
}

function teamFields(task: Task, team: TeamPicture | undefined): Record<string, string | null> {
  if (team === undefined) return {}
  const { total, done } = team.progress
  const objectives = total === 0 ? null : `${done} of ${total} done: "errand task context ${shortId(task.id)}"`
  return { branch: team.branch, type: team.type, objectives }
}

function formatValue(field: string, value: unknown): string {
  if (typeof value === 'number' && (field.endsWith('At') || timeFields.has(field))) return isoTime(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return text.length > longestValue
    ? `${text.slice(0, longestValue)}… (${text.length} characters; --json shows all)`
    : text
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value as object).length === 0
}

/** The runs of a task, one a line. */
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

/** The calls of a task, one a line. */
export function callTable(calls: readonly Call[], columns?: number): string[] {
  const table: Columns<Call> = {
    call: ({ name }) => fitWidth(cleanLine(name), 40),
    run: ({ run }) => run,
    status: ({ status }) => status,
    error: ({ error }) => firstLine(error?.message ?? ''),
  }
  return formatTable(calls, table, columns)
}

function section(title: string, count: number, lines: readonly string[]): string[] {
  return count === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]
}

function narrower(columns: number | undefined): number {
  return (columns ?? 200) - 2
}
