// A task in the words of the protocol's Tasks extension: its five statuses, its handle, its questions as forms for the user.
// The words of a foreigner stand here and nowhere else.
import type { TaskRow } from '../../abilities/views/task-row.ts'
import { isoTime } from '../../core/clock.ts'
import type { Task, TaskStatus } from '../../entities/task.ts'
import { answerResult, failureResult, type ToolResult } from './tool-results.ts'

/** A task as `task:get` shows it. */
export interface ShownTask extends Task {
  branch: string | null
}

/** By which a client takes a request back: there will be no answer. */
export const withdrawal = 'notifications/cancelled'

export type HandleStatus = 'working' | 'input_required' | 'completed' | 'cancelled'

/** The protocol's notion of `failed` is an error of the protocol itself: a task that failed has completed, with an error. */
const statuses: Readonly<Record<TaskStatus, HandleStatus>> = {
  submitted: 'working',
  working: 'working',
  paused: 'working',
  input_required: 'input_required',
  waiting: 'working',
  completed: 'completed',
  failed: 'completed',
  canceled: 'cancelled',
}

export interface TaskHandle {
  taskId: string
  status: HandleStatus
  statusMessage?: string | undefined
  createdAt: string
  lastUpdatedAt: string
  /** The ledger keeps tasks until somebody purges them. */
  ttlMs: null
  pollIntervalMs: number
  [key: string]: unknown
}

/** What moves by itself is looked at more often than what waits for somebody. */
const pollWorkingMs = 1_000
const pollRestingMs = 5_000

/**
 * `asks`: the client can put questions to its user. For one that cannot, and for questions to people, whose answer nobody here could vouch
 * for, the task goes on until somebody else answers.
 */
export function toHandle(task: ShownTask, asks: boolean): TaskHandle {
  const status = statuses[task.status]
  const shown = status === 'input_required' && !(asks && task.questions.some(isForAnyone)) ? 'working' : status
  return {
    taskId: task.id,
    status: shown,
    statusMessage: messageOf(task),
    createdAt: isoTime(task.createdAt),
    lastUpdatedAt: isoTime(task.updatedAt),
    ttlMs: null,
    pollIntervalMs: task.status === 'working' ? pollWorkingMs : pollRestingMs,
  }
}

/** The handle with what belongs to its status: the result, or the questions. `row` is the task in a list. */
export function toDetailedHandle(task: ShownTask, row: TaskRow, asks: boolean): TaskHandle {
  const handle = toHandle(task, asks)
  if (handle.status === 'completed') return { ...handle, result: resultOf(task, row) }
  if (handle.status !== 'input_required') return handle
  return { ...handle, inputRequests: formsOf(task) }
}

function formsOf({ questions }: ShownTask): Record<string, unknown> {
  return Object.fromEntries(questions.filter(isForAnyone).map((each) => [each.id, toElicitation(each)]))
}

function isForAnyone({ for: audience }: Question): boolean {
  return audience === 'anyone'
}

/** What the tool call that made the task came to: the fields that `task:create` answers with, which clients check, and the result. */
function resultOf(task: ShownTask, row: TaskRow): ToolResult {
  if (task.status === 'failed') {
    const { code, message } = task.error ?? { code: 'TASK_FAILED', message: 'failed' }
    return failureResult({ code, message, details: { taskId: task.id } })
  }
  const { id: taskId, branch, status, result } = task
  return answerResult({ taskId, branch, task: row, status, result })
}

function messageOf(task: ShownTask): string | undefined {
  const { status, statusReason, error, questions, progress } = task
  if (task.ready && task.executor !== null) return 'queued'
  switch (status) {
    case 'working':
      return progress?.note ?? undefined
    case 'input_required':
      return questions.map(({ question }) => question).join('\n') || undefined
    case 'failed':
      return error?.message
    case 'submitted':
      return 'queued'
    case 'paused':
    case 'waiting':
      return statusReason ?? status
    case 'canceled':
      return statusReason ?? undefined
    case 'completed':
      return undefined
  }
}

// ── questions as forms ──

type Question = Task['questions'][number]
type Schema = Record<string, unknown>

/** A form holds only plain fields: anything else is asked for as text. */
const plainTypes: readonly unknown[] = ['string', 'number', 'integer', 'boolean']
const fieldKeys = ['type', 'title', 'description', 'enum', 'minimum', 'maximum', 'minLength', 'maxLength', 'default']
const answerField = 'answer'

export function toElicitation({ question, schema }: Question): Schema {
  const fields = fieldsOf(schema)
  const requestedSchema =
    fields ??
    ({
      type: 'object',
      properties: { [answerField]: isPlain(schema) ? toField(schema) : textField(schema) },
      required: [answerField],
    } satisfies Schema)
  return { method: 'elicitation/create', params: { mode: 'form', message: question, requestedSchema } }
}

/** The answer that a filled form is. */
export function fromForm({ schema }: Question, content: Schema): unknown {
  if (fieldsOf(schema) !== undefined) return content
  const value = content[answerField]
  if (schema === null || isPlain(schema) || typeof value !== 'string') return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}

/** A schema that is a form already: an object of plain fields. */
function fieldsOf(schema: unknown): Schema | undefined {
  if (!isSchema(schema) || schema['type'] !== 'object' || !isSchema(schema['properties'])) return undefined
  const fields = Object.entries(schema['properties'])
  if (fields.length === 0 || !fields.every(([, field]) => isPlain(field))) return undefined
  const { required } = schema
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [name, toField(field as Schema)])),
    ...(Array.isArray(required) ? { required } : {}),
  }
}

function isPlain(schema: unknown): schema is Schema {
  return isSchema(schema) && plainTypes.includes(schema['type'])
}

function toField(schema: Schema): Schema {
  return Object.fromEntries(fieldKeys.flatMap((key) => (key in schema ? [[key, schema[key]]] : [])))
}

function textField(schema: unknown): Schema {
  return schema === null
    ? { type: 'string' }
    : { type: 'string', description: `JSON that fits this schema: ${JSON.stringify(schema)}` }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
