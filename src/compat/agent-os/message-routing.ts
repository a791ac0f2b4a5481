// Routes a user's message to a task: by an explicit mention, else by `task:route`, then `task:send` or `task:create`.

import { extractMention } from '../../agents/routing/mention.ts'
import { requireText } from '../../core/parse.ts'
import type { AgentBus } from './agent-bus.ts'
import type { ProcessStatus } from './views/status-mapping.ts'

/** The id that a message mentions at its beginning, as in `@task-abc123 …`; undefined without a mention. */
export function extractExplicitTaskId(message: string): string | undefined {
  return extractMention(requireText(message, 'the message'))?.taskId
}

/** The open task for a message; null for a new one, and for a mention of an unknown task. */
export async function routeMessage(message: string, bus: AgentBus): Promise<string | null> {
  return (await bus.call('task:route', { message })).taskId
}

/** The outcome of handling a message. */
export interface HandledMessage {
  /** The task that received the message; null if none did. */
  taskId: string | null
  did: 'sent' | 'created' | 'nothing'
  /** The task's status; absent for a new task, which is only queued. */
  status?: ProcessStatus
  /** Why the message was not delivered. */
  reason?: string
}

/**
 * Routes a message and appends it, without its mention, to its task, or creates a task from it. The task continues as soon as there is a
 * slot; a paused task keeps the message until it is resumed.
 *
 * @example
 * const { taskId } = await handleUserMessage('Can you also check Q2?', bus)
 * @throws ErrandError INVALID_INPUT for an invalid message; NOT_FOUND if the bus has no task manager.
 */
export async function handleUserMessage(message: string, bus: AgentBus): Promise<HandledMessage> {
  const mention = extractMention(requireText(message, 'the message'))
  const { taskId, reason } = await bus.call('task:route', { message })
  if (taskId === null) {
    if (mention !== null)
      return { taskId: null, did: 'nothing', reason: reason ?? `${mention.taskId} takes no messages.` }
    return { ...(await bus.call('task:create', { goal: message })), did: 'created' }
  }
  const text = mention?.text ?? message
  if (text === '') return { taskId, did: 'nothing', reason: 'The message has no text besides the mention.' }
  const { success, status } = await bus.call('task:send', { taskId, message: text })
  if (success) return { taskId, did: 'sent', status }
  return { taskId, did: 'nothing', status, reason: `The task has ended (${status}) and takes no more messages.` }
}
