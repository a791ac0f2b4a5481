// Maps tasks to MCP's Tasks extension: its five statuses, its task handles, and questions as forms. The terms of the protocol are
// confined to this file.

import { isoTime } from '../../core/clock.ts'
import type { Task, TaskStatus } from '../../entities/task.ts'
import type { TaskRow } from '../../operations/views/task-row.ts'
import { answerResult, failureResult, type ToolResult } from './tool-results.ts'

/** A task as returned by `task:get`. */
export interface ShownTask extends Task {
  branch: string | null
}

/** The notification with which a client withdraws a request, which is then not answered. */
export const cancellation = 'notifications/cancelled'

/** The ids of the requests that a message, or one of a list of messages, withdraws. */
export function withdrawnIn(body: unknown): Array<string | number> {
  return [body].flat().flatMap((message) => {
    const { method, params } = Object(message) as { method?: unknown; params?: unknown }
    const { requestId: id } = Object(params) as { requestId?: unknown }
    return method === cancellation && (typeof id === 'string' || typeof id === 'number') ? [id] : []
  })
}

export type HandleStatus = 'working' | 'input_required' | 'completed' | 'cancelled'

/** In MCP `failed` means a protocol error, so a failed task is mapped to `completed` with an error result. */
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
  /** Null: the ledger keeps tasks until they are purged. */
  ttlMs: null
  pollIntervalMs: number
  [key: string]: unknown
}

/** Working tasks are polled more often than tasks that wait for input. */
const pollWorkingMs = 1_000
const pollRestingMs = 5_000

/**
 * @param canAsk whether the client can ask its user. If it cannot, or the question is for people (whose answers the client cannot vouch
 *   for), the task is shown as working until the question is answered elsewhere.
 */
export function toHandle(task: ShownTask, canAsk: boolean): TaskHandle {
  const status = statuses[task.status]
  const shown = status === 'input_required' && !(canAsk && task.questions.some(isForAnyone)) ? 'working' : status
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

/** The handle with the data of its status: the result, or the questions. `row` is the task as in a list. */
export function toDetailedHandle(task: ShownTask, row: TaskRow, canAsk: boolean): TaskHandle {
  const handle = toHandle(task, canAsk)
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

/** The result of the tool call that created the task: the output of `task:create`, which clients validate, and the task's result. */
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

/** Forms only support primitive fields: other types are requested as text. */
const plainTypes: readonly unknown[] = ['string', 'number', 'integer', 'boolean']
const fieldKeys = ['type', 'title', 'description', 'enum', 'minimum', 'maximum', 'minLength', 'maxLength', 'default']
const answerField = 'answer'

function toElicitation({ question, schema }: Question): Schema {
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

/** Converts a submitted form to the answer. */
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

/** The fields of a schema that is an object of primitive fields already. */
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
    : { type: 'string', description: `JSON that matches this schema: ${JSON.stringify(schema)}` }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
