// ldg:call:save: keeps a call of a program that works on a task itself. What a run of the engine has recorded is the run's, and
// stays as it is.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { taskIdSchema } from '../../../../abilities/task/task-input.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import { type CallStatus, callStatuses } from '../../../../entities/call.ts'
import { type SaveCallRequest, saveCall } from '../../../../steps/save-call.ts'

const messageIdSchema = z.string().max(200).nullish()

const callSchema = z.object({
  id: z.string().min(1).max(200),
  taskId: taskIdSchema,
  abilityName: z.string().min(1).max(200),
  /** JSON text of the arguments. What is no JSON is kept as text. */
  parameters: z.string(),
  status: z.enum(callStatuses),
  /** JSON text: notes while it runs, then the result, or `{ error, stack }`. What is no JSON is kept as text. */
  details: z.string().default('{}'),
  createdAt: z.int().min(0).max(8.64e15).optional(),
  updatedAt: z.number().optional(),
  startMessageId: messageIdSchema,
  endMessageId: messageIdSchema,
})

/**
 * New calls in any state; known ones only forward, with the same name and parameters. Of a known call the details, the messages
 * and the state change while it is open, and nothing afterwards.
 */
export function ldgCallSave(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:call:save',
    description: 'Saves a call of an ability in a task: adds it, or moves it on.',
    input: z.strictObject({ call: callSchema }),
    output: z.object({ success: z.boolean() }),
    models: false,
    async handle({ call }) {
      const moment = await host.moment()
      await host.step(saveCall({ ...moment, call: rowOf(call, moment.at) }))
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
    // An empty id is that of a message which has not been saved yet.
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

/** Whatever a failure is told as, something of it is a text. */
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
