// ldg:msg:list: the conversation of a task, oldest first.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { taskIdSchema } from '../../../../abilities/task/task-input.ts'
import { ledgerMessageSchema, toLedgerMessage } from '../../../../abilities/views/message-view.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import { loadTask } from '../../../../steps/moment.ts'

const mostMessages = 1_000_000

/** `total` counts all messages of the task. What is told to people only is marked as an announcement. */
export function ldgMsgList(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:msg:list',
    access: 'read',
    description: 'Lists the messages of a task.',
    input: z.strictObject({
      taskId: taskIdSchema,
      limit: z.int().min(0).max(mostMessages).default(mostMessages),
      offset: z.int().min(0).default(0),
    }),
    output: z.object({ messages: z.array(ledgerMessageSchema), total: z.number() }),
    models: false,
    handle: ({ taskId, limit, offset }) =>
      host.read(function* (tx) {
        yield* loadTask(tx, taskId)
        // Messages are numbered from 1 without gaps: so many are passed over by number.
        const messages = yield* tx.message.page(taskId, offset, limit)
        return { messages: messages.map(toLedgerMessage), total: yield* tx.message.count(taskId) }
      }),
  })
}
