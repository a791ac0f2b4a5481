// ldg:call:list and ldg:call:save: the calls of a task. Saving is for programs that work on a task themselves; calls recorded by a run of
// the engine cannot be changed.
import { z } from 'zod'
import { defineAbility } from '../../../bus/ability.ts'
import { type CallRecord, type CallStatus, callStatuses } from '../../../entities/call.ts'
import type { TaskRecord } from '../../../entities/task.ts'
import type { AbilityHost } from '../../../operations/ability-host.ts'
import { type SaveCallRequest, saveCall } from '../../../operations/steps/save-call.ts'
import { loadTask, requestedBy } from '../../../operations/steps/step-context.ts'
import { taskIdSchema } from '../../../operations/task/task-input.ts'

/** Parameters and details are JSON text. */
const ledgerCallSchema = z.object({
  id: z.string(),
  taskId: z.string(),
  /** The id of the ability, or the name given by an executor. */
  abilityName: z.string(),
  /** JSON text of the arguments. */
  parameters: z.string(),
  status: z.enum(callStatuses),
  /** JSON text: notes while the call runs (`{}` at first), then its result, or `{ error, stack }` if it failed. */
  details: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** The message that announced its start; empty if there is none. */
  startMessageId: z.string(),
  /** The message that announced its end; absent until then. */
  endMessageId: z.string().optional(),
})

/** A call as `ldg:call:list` returns it. */
export type Call = z.output<typeof ledgerCallSchema>

/** `task`: that of the call, which fails its open calls when it is canceled. */
function toLedgerCall(given: CallRecord, task: TaskRecord): Call {
  const call = isInterrupted(given, task) ? interruptedBy(given, task) : given
  return {
    id: call.id,
    taskId: call.taskId,
    abilityName: call.name,
    parameters: JSON.stringify(call.params ?? {}),
    status: call.status,
    details: JSON.stringify(detailsOf(call)),
    createdAt: call.createdAt,
    updatedAt: call.updatedAt,
    startMessageId: call.startMessageId ?? '',
    ...(call.endMessageId === null ? {} : { endMessageId: call.endMessageId }),
  }
}

/** It was in progress when its task was canceled. The ledger goes on to keep what became of it; Agent OS shows it as failed from then on. */
function isInterrupted({ status, updatedAt }: CallRecord, { status: taskStatus, completedAt }: TaskRecord): boolean {
  if (taskStatus !== 'canceled' || completedAt === null) return false
  return status === 'pending' || status === 'in_progress' || updatedAt > completedAt
}

function interruptedBy(call: CallRecord, { statusReason, completedAt }: TaskRecord): CallRecord {
  const message = `Task cancelled${statusReason === null ? '' : `: ${statusReason}`}`
  return { ...call, status: 'failed', error: { code: 'RUN_ENDED', message }, updatedAt: completedAt ?? call.updatedAt }
}

function detailsOf({ status, result, error, details }: CallRecord): unknown {
  if (status === 'completed') return result
  if (status !== 'failed') return details ?? {}
  // An ability's error is wrapped by the bus; the stack of the tool is that of the cause.
  const stack = error?.cause?.stack ?? error?.stack ?? (details as { stack?: unknown } | null)?.stack
  return { error: error?.message ?? 'failed', ...(typeof stack === 'string' ? { stack } : {}) }
}

/** Lists calls oldest first. Questions, waits and other journal entries are not calls. */
export function ldgCallList(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:call:list',
    access: 'read',
    description: 'Lists the calls of abilities in a task.',
    input: z.strictObject({ taskId: taskIdSchema }),
    output: z.object({ calls: z.array(ledgerCallSchema) }),
    models: false,
    handle: ({ taskId }) =>
      host.read(function* (tx) {
        const task = yield* loadTask(tx, taskId)
        return { calls: (yield* tx.call.list(taskId, ['call'])).map((call) => toLedgerCall(call, task)) }
      }),
  })
}

const messageIdSchema = z.string().max(200).nullish()

const callSchema = z.object({
  id: z.string().min(1).max(200),
  taskId: taskIdSchema,
  abilityName: z.string().min(1).max(200),
  /** JSON text of the arguments. Invalid JSON is stored as text. */
  parameters: z.string(),
  status: z.enum(callStatuses),
  /** JSON text: notes while it runs, then the result, or `{ error, stack }`. Invalid JSON is stored as text. */
  details: z.string().default('{}'),
  createdAt: z.int().min(0).max(8.64e15).optional(),
  updatedAt: z.number().optional(),
  startMessageId: messageIdSchema,
  endMessageId: messageIdSchema,
})

/**
 * Adds a call in any status, or moves an existing one forward with the same name and parameters. Details, messages and status of an
 * existing call can change only while it is open.
 */
export function ldgCallSave(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:call:save',
    description: 'Saves a call of an ability in a task: adds it, or updates its status.',
    input: z.strictObject({ call: callSchema }),
    output: z.object({ success: z.boolean() }),
    models: false,
    async handle({ call }, { caller }) {
      const ctx = requestedBy(await host.stepContext(), caller)
      const row = rowOf(call, ctx.at)
      // Redacted first, because it is compared with the stored parameters.
      const params = host.redaction.value(row.params, 'call', 'params')
      await host.step(saveCall({ ...ctx, call: { ...row, params } }))
      return { success: true }
    },
  })
}

function rowOf(call: z.output<typeof callSchema>, at: number): SaveCallRequest['call'] {
  return {
    id: call.id,
    taskId: call.taskId,
    name: call.abilityName,
    params: readJson(call.parameters),
    status: call.status,
    ...outcomeOf(call.status, readJson(call.details)),
    // An empty id means that the message is not saved yet.
    startMessageId: call.startMessageId || null,
    endMessageId: call.endMessageId || null,
    createdAt: call.createdAt ?? at,
  }
}

function outcomeOf(
  status: CallStatus,
  details: unknown,
): Pick<SaveCallRequest['call'], 'details' | 'result' | 'error'> {
  if (status === 'completed') return { details: null, result: details, error: null }
  if (status !== 'failed') return { details: isEmpty(details) ? null : details, result: null, error: null }
  const { error, stack } = failureSchema.parse(details)
  return {
    details: null,
    result: null,
    error: { code: 'CALL_FAILED', message: error, ...(stack === undefined ? {} : { stack }) },
  }
}

/** Accepts any shape of a failure and always yields a message. */
const failureSchema = z
  .object({ error: z.string(), stack: z.string().optional().catch(undefined) })
  .catch(({ value }) => ({
    error: typeof value === 'string' && value !== '' ? value : 'failed',
    stack: undefined,
  }))

function isEmpty(details: unknown): boolean {
  return typeof details === 'object' && details !== null && Object.keys(details).length === 0
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
