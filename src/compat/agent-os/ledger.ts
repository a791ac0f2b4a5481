// Functions that read and write a task's records through `ldg:*`, for code that has only task ids.

import { ErrandError } from '../../core/errors.ts'
import type { LedgerMessage } from '../../operations/views/message-view.ts'
import type { AgentBus } from './agent-bus.ts'
import type { LedgerTask } from './views/task-view.ts'

/** The record of a task; `completionStatus` is absent until it has ended. */
export type Task = LedgerTask
/** A message of a task's conversation; `announcement` marks those for people only. */
export type Message = LedgerMessage
export type MessageRole = Message['role']

/** @throws ErrandError NOT_FOUND `Task not found: <id>` */
export async function loadTask(taskId: string, bus: AgentBus): Promise<Task> {
  const { task } = await bus.call('ldg:task:get', { taskId })
  if (task === null) throw new ErrandError('NOT_FOUND', `Task not found: ${taskId}`, { taskId })
  return task
}

/**
 * Appends a message to a task's conversation and resolves to the stored message. Messages with role user reach the task's agent.
 * @throws ErrandError NOT_FOUND for an unknown task, INVALID_INPUT for an unknown role; nothing is stored then.
 */
export async function saveMessage(taskId: string, role: MessageRole, content: string, bus: AgentBus): Promise<Message> {
  // Messages are only appended, so the new one follows those that existed before.
  const before = await bus.call('ldg:msg:list', { taskId, limit: 0 })
  const { messageId } = await bus.call('ldg:msg:save', { message: { taskId, role, content } })
  const { messages } = await bus.call('ldg:msg:list', { taskId, offset: before.total })
  return messages.find(({ id }) => id === messageId) as Message
}

/** Returns all messages of a task, oldest first. @throws ErrandError NOT_FOUND */
export async function loadTaskContext(taskId: string, bus: AgentBus): Promise<Message[]> {
  const all: Message[] = []
  for (;;) {
    const { messages, total } = await bus.call('ldg:msg:list', { taskId, offset: all.length })
    for (const message of messages) all.push(message)
    // A page of long messages ends before its limit.
    if (messages.length === 0 || all.length >= total) return all
  }
}
