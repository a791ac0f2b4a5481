// `errand show`: all that the ledger knows of one task, for people or as one JSON object.
import type { Engine, Why } from '../../../api.ts'
import { isoTime } from '../../../clock.ts'
import type { Call } from '../../../entities/call.ts'
import type { Message } from '../../../entities/message.ts'
import type { RunRecord } from '../../../entities/run.ts'
import type { Task } from '../../../entities/task.ts'
import { describeConversation, usageOf } from '../conversation-text.ts'
import { formatDuration } from '../duration.ts'
import { exitCodes } from '../exit-code.ts'
import { print, printJson } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { formatTable } from '../table.ts'
import { findTask } from '../task-ref.ts'
import { ownerWords, stateWord, taskLabel } from '../task-words.ts'
import { cleanLine, cleanText, firstLine, fitWidth } from '../terminal-text.ts'
import { defineVerb } from '../verb.ts'

const longestValue = 2_000
const timeFields: ReadonlySet<string> = new Set(['notBefore', 'deadline', 'leaseUntil'] satisfies Array<keyof Task>)

export const showVerb = defineVerb({
  usage: 'show ID',
  help: 'Shows everything about a task: its fields, its runs and calls, its conversation and the tokens it took, and why it does not run.',
  options: {},
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [ref] }) {
    return await withLedger(io, values, async (engine) => {
      const picture = await takePicture(engine, await findTask(engine, ref as string))
      if (values.json) printJson(io, pictureJson(picture))
      else for (const line of describe(picture, io.stdout.columns)) print(io, line)
      return exitCodes.done
    })
  },
})

interface Picture {
  task: Task
  why: Why
  runs: RunRecord[]
  calls: Call[]
  messages: Message[]
}

async function takePicture(engine: Engine, task: Task): Promise<Picture> {
  const [why, runs, calls, messages] = await Promise.all([
    engine.why(task.id),
    engine.runs(task.id),
    engine.calls(task.id),
    engine.messages(task.id),
  ])
  return { task, why, runs, calls, messages }
}

function pictureJson({ task, ...rest }: Picture): Record<string, unknown> {
  const usage = usageOf(rest.messages)
  return { ...task, ...rest, ...(usage === undefined ? {} : { usage }) }
}

function describe({ task, why, runs, calls, messages }: Picture, columns: number | undefined): string[] {
  return [
    `${taskLabel(task)}: ${stateWord(task)}${task.owner === null ? '' : `, ${ownerWords(task)}`}`,
    `  ${cleanText(why.message)}`,
    '',
    ...formatFields(task),
    ...section('runs', runs.map(runCells), ['run', 'attempt', 'outcome', 'started', 'took', 'error'], columns),
    ...section('calls', calls.map(callCells), ['call', 'run', 'status', 'error'], columns),
    ...describeConversation(messages),
  ]
}

/** The fields that say something; those that are empty or stand elsewhere in the picture are left out. */
function formatFields(task: Task): string[] {
  const { seq: _seq, name: _name, ready: _ready, ...fields } = task
  const told = Object.entries(fields).filter(([field, value]) => !isEmpty(value) && (field !== 'fence' || value !== 0))
  const width = Math.max(...told.map(([field]) => field.length))
  return told.flatMap(([field, value]) => {
    const [first, ...rest] = formatValue(field, value).split('\n')
    return [`${field.padEnd(width)}  ${first}`, ...rest.map((line) => `${' '.repeat(width)}  ${line}`)]
  })
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

function section(title: string, rows: string[][], header: string[], columns: number | undefined): string[] {
  return rows.length === 0
    ? []
    : ['', title, ...formatTable(header, rows, (columns ?? 200) - 2).map((line) => `  ${line}`)]
}

function runCells(run: RunRecord): string[] {
  const took = run.endedAt === null ? '' : formatDuration(run.endedAt - run.startedAt)
  return [
    `${run.number}`,
    `${run.attempt}`,
    run.outcome ?? run.status,
    isoTime(run.startedAt),
    took,
    firstLine(run.error?.message ?? ''),
  ]
}

function callCells(call: Call): string[] {
  return [fitWidth(cleanLine(call.name), 40), `${call.run}`, call.status, firstLine(call.error?.message ?? '')]
}
