// task:send: sends a message of the user to a task, which reads it and continues.
import { z } from 'zod'
import { spokenText } from '../../core/parse.ts'
import { send } from '../steps/send.ts'
import { taskChange } from './define-change.ts'

/** A paused task stores the message and stays paused. A task that has ended refuses it with INVALID_TRANSITION. */
export const taskSend = taskChange({
  id: 'task:send',
  description: 'Sends a message of the user to a task, which reads it and continues.',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/messages',
      tag: 'Control',
      operationId: 'sendMessage',
      summary: 'Send a message to a task',
    },
    {
      endpoint: 'POST /send',
      tag: 'Control',
      operationId: 'send',
      summary: 'Send a message to the task named in the body',
    },
  ],
  input: () => ({
    message: spokenText().min(1),
    delivery: z
      .enum(['steer', 'followup', 'abort'])
      .default('steer')
      .describe(
        'When the task reads the message. `steer` (default): before its next step; `followup`: before it ends; `abort`: the task is paused at once.',
      ),
    retry: z.boolean().default(false).describe('Start a new attempt if the task has failed. Default false.'),
  }),
  args: ['message'],
  step: ({ taskId, message, delivery, retry }, ctx, { host, caller }) =>
    send({
      ...ctx,
      taskId,
      messageId: host.nextId('msg'),
      content: message,
      delivery,
      retry,
      caller,
    }),
})
