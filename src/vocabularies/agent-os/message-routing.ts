// The way of a user's message to its task: an explicit mention, else `task:route`, and then `task:send` or `task:create`.

import { requireText } from '../../core/parse.ts'
import { extractMention } from '../../routing/mention.ts'
import type { AgentBus } from './agent-bus.ts'
import type { ProcessStatus } from './views/status-mapping.ts'

/** The id that a message names at its very beginning, `@task-abc123 and so on`; undefined without one. */
export function extractExplicitTaskId(message: string): string | undefined {
  return extractMention(requireText(message, 'the message'))?.taskId
}

/** The open task that a message is for, or null for a new one (and for a mention that leads nowhere). */
export async function routeMessage(message: string, bus: AgentBus): Promise<string | null> {
  return (await bus.call('task:route', { message })).taskId
}

/** What became of a message. */
export interface HandledMessage {
  /** The task that has it now; null when none does. */
  taskId: string | null
  did: 'sent' | 'created' | 'nothing'
  /** How the task stands; absent for a new one, which has only been queued. */
  status?: ProcessStatus
  /** Why nothing was done. */
  reason?: string
}

/**
 * Routes a message and appends it, without its mention, to the task that it is for; else creates a task of it. Either way the
 * task goes on as soon as there is a slot; only one that somebody has paused keeps the message until it is resumed.
 *
 * @example
 * const { taskId } = await handleUserMessage('Can you also check Q2?', bus)
 * @throws ErrandError INVALID_INPUT for what is no message; NOT_FOUND when there is no task manager on the bus.
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
  if (text === '') return { taskId, did: 'nothing', reason: 'There is nothing to send but the mention.' }
  const { success, status } = await bus.call('task:send', { taskId, message: text })
  if (success) return { taskId, did: 'sent', status }
  return { taskId, did: 'nothing', status, reason: `The task has ended (${status}) and takes no more messages.` }
}
