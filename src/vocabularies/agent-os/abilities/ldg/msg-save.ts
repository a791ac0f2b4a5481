// ldg:msg:save: adds a message to the conversation of a task. Messages never change, so there is no saving one again.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { taskIdSchema } from '../../../../abilities/task/task-input.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import { messageRoles } from '../../../../entities/message.ts'
import { checkText } from '../../../../json.ts'
import { saveMessage } from '../../../../steps/save-message.ts'

const messageSchema = z.object({
  id: z.string().min(1).max(200).optional(),
  taskId: taskIdSchema,
  role: z.enum(messageRoles),
  content: z.string(),
  /** When it was whole, in epoch milliseconds. Default: now. */
  timestamp: z.int().min(0).max(8.64e15).optional(),
})

/**
 * One of the user reaches the task's agent like `task:send`. What is saved as the assistant's or a tool's in a task that has an
 * executor is for people only: no model is told that it said what it has not.
 */
export function ldgMsgSave(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:msg:save',
    description: 'Adds a message to the conversation of a task.',
    input: z.strictObject({ message: messageSchema }),
    output: z.object({ success: z.boolean(), messageId: z.string() }),
    models: false,
    async handle({ message }) {
      const moment = await host.moment()
      const id = message.id ?? host.nextId('msg')
      const content = checkText(message.content, 'the message')
      await host.step(
        saveMessage({ ...moment, message: { ...message, id, content, timestamp: message.timestamp ?? moment.at } }),
      )
      return { success: true, messageId: id }
    },
  })
}
