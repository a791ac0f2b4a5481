// MCP's Tasks extension: for clients that support it, a tool call that starts work returns a handle. The handle is the task itself, which
// is stored in the ledger and survives the server, the connection and the client.
import type { Server, ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import type { Task } from '../../entities/task.ts'
import type { TaskRow } from '../../operations/views/task-row.ts'
import { publicError } from '../web/public-error.ts'
import type { Sdk } from './load-sdk.ts'
import { fromForm, type ShownTask, toDetailedHandle, toHandle } from './task-mapping.ts'
import type { ToolResult } from './tool-results.ts'

export const tasksExtension = 'io.modelcontextprotocol/tasks'

/** The ability that starts work; its output contains the `taskId`. */
const createAbility = 'task:create'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

/** Invokes an ability for the client of a request. */
export type Invoke = (abilityId: string, input: unknown) => Promise<unknown>

interface Declared {
  tasks: boolean
  /** The client can ask its user. */
  canAsk: boolean
}

const declaredSchema = z.looseObject({
  elicitation: z.unknown().optional(),
  extensions: z.record(z.string(), z.unknown()).optional(),
})

/** The capabilities that the client declares with each request. */
function declaredBy(context: ServerContext): Declared {
  const envelope: Record<string, unknown> = context.mcpReq.envelope ?? {}
  const parsed = declaredSchema.safeParse(envelope[capabilitiesKey])
  if (!parsed.success) return { tasks: false, canAsk: false }
  const { elicitation, extensions = {} } = parsed.data
  return { tasks: Object.hasOwn(extensions, tasksExtension), canAsk: elicitation !== undefined }
}

/**
 * The handle instead of the result, if the ability has started work that the engine runs itself, and the client supports the extension.
 * A task to be claimed gets no handle, because a client should not wait for it.
 */
export async function handleInsteadOf(
  abilityId: string,
  answer: unknown,
  context: ServerContext,
  invoke: Invoke,
): Promise<ToolResult | undefined> {
  const { tasks, canAsk } = declaredBy(context)
  if (!tasks || abilityId !== createAbility) return undefined
  const task = await detailOf((answer as { taskId: string }).taskId, invoke)
  if (task.executor === null) return undefined
  return { content: [], resultType: 'task', ...toHandle(task, canAsk) }
}

const paramsSchema = z.looseObject({ taskId: z.string().min(1).max(100) })

/** Serves `tasks/get`, `tasks/update` and `tasks/cancel`. `invokeFor` returns the function that invokes abilities for a request. */
export function serveTasks(sdk: Sdk, server: Server, invokeFor: (context: ServerContext) => Invoke): void {
  const serve = (
    method: string,
    work: (taskId: string, invoke: Invoke, context: ServerContext) => Promise<Record<string, unknown>>,
  ): void =>
    server.setRequestHandler(method, { params: paramsSchema }, async ({ taskId }, context) => {
      if (!declaredBy(context).tasks) {
        const requiredCapabilities = { extensions: { [tasksExtension]: {} } }
        throw new sdk.MissingRequiredClientCapabilityError({ requiredCapabilities })
      }
      try {
        return await work(taskId, invokeFor(context), context)
      } catch (error) {
        throw protocolError(sdk, error)
      }
    })

  serve('tasks/get', async (taskId, invoke, context) => {
    const task = await detailOf(taskId, invoke)
    return toDetailedHandle(task, await rowOf(taskId, invoke), declaredBy(context).canAsk)
  })
  serve('tasks/update', async (taskId, invoke, context) => {
    await answerQuestions(await detailOf(taskId, invoke), context.mcpReq.inputResponses ?? {}, invoke)
    return {}
  })
  // Canceling a task that has ended has no effect and is not an error.
  serve('tasks/cancel', async (taskId, invoke) => {
    try {
      await invoke('task:cancel', { taskId, reason: 'canceled by the client' })
    } catch (error) {
      if (!ErrandError.isInstance(error) || error.code !== 'INVALID_TRANSITION') throw error
    }
    return {}
  })
}

const responseSchema = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).default({}),
})

/** A declined question stays open for another client or a later answer. Answers to questions that are not open are ignored. */
async function answerQuestions(task: ShownTask, responses: Record<string, unknown>, invoke: Invoke): Promise<void> {
  for (const question of task.questions) {
    const response = responseSchema.safeParse(responses[question.id])
    if (!response.success || response.data.action !== 'accept') continue
    const value = fromForm(question, response.data.content)
    await invoke('task:answer', { taskId: task.id, question: question.id, value })
  }
}

async function detailOf(taskId: string, invoke: Invoke): Promise<ShownTask> {
  const { task, branch } = (await invoke('task:get', { taskId })) as { task: Task; branch: string | null }
  return { ...task, branch }
}

async function rowOf(taskId: string, invoke: Invoke): Promise<TaskRow> {
  const { tasks } = (await invoke('task:list', { ids: [taskId] })) as { tasks: TaskRow[] }
  const [row] = tasks
  if (row === undefined) throw new ErrandError('TASK_DELETED', `${taskId} was deleted while it was read.`, { taskId })
  return row
}

/** Invalid input becomes `invalid params`, any other error an internal error. */
function protocolError(sdk: Sdk, thrown: unknown): Error {
  const { code, message, details } = publicError(thrown)
  const isTheirs = ErrandError.isInstance(thrown) && !code.startsWith('LEDGER_') && code !== 'EXECUTION_ERROR'
  const { InvalidParams, InternalError } = sdk.ProtocolErrorCode
  return new sdk.ProtocolError(isTheirs ? InvalidParams : InternalError, message, { code, details })
}
