// task:send: a message of the user for a task, which reads it and goes on.
import { z } from 'zod'
import { sendOptionsSchema } from '../../api/options.ts'
import { requireText } from '../../core/parse.ts'
import { send } from '../../steps/send.ts'
import { taskChange } from './task-change.ts'

const { delivery, retry } = sendOptionsSchema.shape

/** A paused task keeps the message and stays paused. One that has ended takes none: INVALID_TRANSITION. */
export const taskSend = taskChange({
  id: 'task:send',
  description: 'Sends a message of the user to a task, which reads it and goes on.',
  input: {
    message: z.string().min(1),
    delivery: delivery.describe(
      '`steer` (default): read before its next step; `followup`: when it would end; `abort`: it is paused at once.',
    ),
    retry: retry.describe('Give a failed task a new attempt. Default false.'),
  },
  step: ({ taskId, message, delivery, retry }, ctx, { host, caller }) =>
    send({
      ...ctx,
      taskId,
      messageId: host.nextId('msg'),
      content: requireText(message, 'the message'),
      delivery,
      retry,
      caller,
    }),
})
