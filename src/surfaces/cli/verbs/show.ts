// `errand show`: all that the ledger knows of one task, for people or as one JSON object.
import type { Engine, Why } from '../../../api.ts'
import { isoTime } from '../../../clock.ts'
import type { Call } from '../../../entities/call.ts'
import type { Message } from '../../../entities/message.ts'
import type { RunRecord } from '../../../entities/run.ts'
import type { Task } from '../../../entities/task.ts'
import type { TeamContext } from '../../../team/context.ts'
import { describeConversation, usageOf } from '../conversation-text.ts'
import { formatDuration } from '../duration.ts'
import { exitCodes } from '../exit-code.ts'
import { print, printJson } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { formatTable } from '../table.ts'
import { findTask } from '../task-ref.ts'
import { ownerWords, shortId, stateWord, taskLabel } from '../task-words.ts'
import { contextOf } from '../team-text.ts'
import { cleanLine, cleanText, firstLine, fitWidth } from '../terminal-text.ts'
import { defineVerb } from '../verb.ts'

const longestValue = 2_000
const timeFields: ReadonlySet<string> = new Set(['notBefore', 'deadline', 'leaseUntil'] satisfies Array<keyof Task>)

export const showVerb = defineVerb({
  usage: 'show ID',
  help: 'Shows everything about a task: its fields, its runs and calls, its conversation and the tokens it took, how far its team is, and why it does not run.',
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
  /** Of a task that has a branch of memory. */
  team?: TeamPicture
}

interface TeamPicture {
  branch: string
  type: string | null
  progress: TeamContext['progress']
}

async function takePicture(engine: Engine, task: Task): Promise<Picture> {
  const [why, runs, calls, messages, team] = await Promise.all([
    engine.why(task.id),
    engine.runs(task.id),
    engine.calls(task.id),
    engine.messages(task.id),
    teamPicture(engine, task),
  ])
  return { task, why, runs, calls, messages, ...(team === undefined ? {} : { team }) }
}

async function teamPicture(engine: Engine, { id }: Task): Promise<TeamPicture | undefined> {
  const { task, progress } = await contextOf(engine, id)
  const { branch, type } = task
  return branch === null ? undefined : { branch, type, progress }
}

function pictureJson({ task, ...rest }: Picture): Record<string, unknown> {
  const usage = usageOf(rest.messages)
  return { ...task, ...rest, ...(usage === undefined ? {} : { usage }) }
}

function describe({ task, why, runs, calls, messages, team }: Picture, columns: number | undefined): string[] {
  return [
    `${taskLabel(task)}: ${stateWord(task)}${task.owner === null ? '' : `, ${ownerWords(task)}`}`,
    `  ${cleanText(why.message)}`,
    '',
    ...formatFields(task, team),
    ...section('runs', runs.map(runCells), ['run', 'attempt', 'outcome', 'started', 'took', 'error'], columns),
    ...section('calls', calls.map(callCells), ['call', 'run', 'status', 'error'], columns),
    ...describeConversation(messages),
  ]
}

/** The fields that say something; those that are empty or stand elsewhere in the picture are left out. */
function formatFields(task: Task, team: TeamPicture | undefined): string[] {
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
