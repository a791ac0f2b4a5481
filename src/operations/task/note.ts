// task:note: adds a note to the conversation of a task, for people and programs.
import { z } from 'zod'
import { spokenText } from '../../core/parse.ts'
import { defineOperation } from '../define-operation.ts'
import { saveMessage } from '../steps/save-message.ts'
import { requestedBy } from '../steps/step-context.ts'
import { taskIdSchema } from './task-input.ts'

/** A model of the engine that works on the task does not read notes, because it did not write them. */
export const taskNote = defineOperation({
  id: 'task:note',
  access: 'control',
  description: 'Adds a note to the conversation of a task.',
  input: () => z.strictObject({ taskId: taskIdSchema, text: spokenText().min(1) }),
  output: () => z.object({ messageId: z.string() }),
  models: false,
  own: true,
  scope: ({ taskId }) => [taskId],
  async handle({ taskId, text }, { caller }, host) {
    const ctx = requestedBy(await host.stepContext(), caller)
    const id = host.nextId('msg')
    const message = { id, taskId, role: 'assistant', content: text, timestamp: ctx.at } as const
    await host.step(saveMessage({ ...ctx, caller, message }))
    return { messageId: id }
  },
})
