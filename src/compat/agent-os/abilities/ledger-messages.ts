// ldg:msg:list and ldg:msg:save: the conversation of a task. Messages are immutable.
import { z } from 'zod'
import { defineAbility } from '../../../bus/ability.ts'
import { spokenText } from '../../../core/parse.ts'
import { type MessageRecord, messageRoles } from '../../../entities/message.ts'
import type { AbilityHost } from '../../../operations/ability-host.ts'
import { matchingOutside } from '../../../operations/steps/answer-schema.ts'
import { saveMessage } from '../../../operations/steps/save-message.ts'
import { loadTask, requestedBy } from '../../../operations/steps/step-context.ts'
import { taskIdSchema } from '../../../operations/task/task-input.ts'
import { ledgerMessageSchema, toLedgerMessage } from '../../../operations/views/message-view.ts'

const maxMessages = 1_000_000

/** Oldest first. `total` counts all messages of the task. Messages for people only are marked as announcements. */
export function ldgMsgList(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:msg:list',
    access: 'read',
    description: 'Lists the messages of a task.',
    input: z.strictObject({
      taskId: taskIdSchema,
      limit: z.int().min(0).max(maxMessages).default(maxMessages),
      offset: z.int().min(0).default(0),
    }),
    output: z.object({ messages: z.array(ledgerMessageSchema()), total: z.number() }),
    models: false,
    handle: ({ taskId, limit, offset }) =>
      host.read(function* (tx) {
        yield* loadTask(tx, taskId)
        const messages: MessageRecord[] = []
        // Messages are numbered from 1 without gaps, so the offset is a number. Clients count on `limit` messages, however long they are.
        for (let isLast = limit === 0; !isLast; ) {
          const page = yield* tx.message.page(taskId, offset + messages.length, limit - messages.length)
          for (const message of page.rows) messages.push(message)
          isLast = page.isLast || messages.length === limit
        }
        return { messages: messages.map(toLedgerMessage), total: yield* tx.message.count(taskId) }
      }),
  })
}

const messageSchema = z.object({
  id: z.string().min(1).max(200).optional(),
  taskId: taskIdSchema,
  role: z.enum(messageRoles),
  content: spokenText(),
  /** When the message was complete, in epoch milliseconds. Default: now. */
  timestamp: z.int().min(0).max(8.64e15).optional(),
})

/**
 * A user message reaches the task's agent, like `task:send`. An assistant or tool message in a task with an executor is for people only,
 * so that no model reads messages that it did not write as its own.
 */
export function ldgMsgSave(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:msg:save',
    description: 'Adds a message to the conversation of a task.',
    input: z.strictObject({ message: messageSchema }),
    output: z.object({ success: z.boolean(), messageId: z.string() }),
    models: false,
    async handle({ message }, { caller }) {
      const ctx = requestedBy(await host.stepContext(), caller)
      const id = message.id ?? host.nextId('msg')
      const step = saveMessage({
        ...ctx,
        caller,
        message: { ...message, id, timestamp: message.timestamp ?? ctx.at },
      })
      await matchingOutside(() => host.step(step))
      return { success: true, messageId: id }
    },
  })
}
