// task:messages: the conversation of a task, oldest first, page by page.
import { z } from 'zod'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { type MessageRecord, reasoningIn } from '../../entities/message.ts'
import { defineOperation } from '../define-operation.ts'
import { requireOwn } from '../steps/conditions.ts'
import { loadTask } from '../steps/step-context.ts'
import { ledgerMessageSchema, toLedgerMessage } from '../views/message-view.ts'
import { defaultLimit, limitSchema, taskIdSchema } from './task-input.ts'

/** To read each message once, pass the `next` of an answer as `after` of the following call. NOT_FOUND for an unknown id. */
export const taskMessages = defineOperation({
  id: 'task:messages',
  access: 'read',
  description: 'Returns the messages of a conversation, oldest first.',
  routes: [
    {
      endpoint: 'GET /tasks/{taskId}/messages',
      tag: 'Tasks',
      operationId: 'listMessages',
      summary: 'List the messages of a task',
    },
  ],
  input: () =>
    z.strictObject({
      taskId: taskIdSchema,
      after: z
        .int()
        .min(0)
        .default(0)
        .describe('Return messages after this position: the `next` of an earlier answer. Default 0, the beginning.'),
      limit: limitSchema.default(defaultLimit),
    }),
  output: () =>
    z.object({
      messages: z.array(
        ledgerMessageSchema().extend({
          step: z
            .object({
              /** The model that answered; empty if it is not known. */
              modelId: z.string(),
              /** Tokens; null where the provider does not report them. */
              usage: z.object({
                inputTokens: z.number().nullable(),
                outputTokens: z.number().nullable(),
                totalTokens: z.number().nullable(),
              }),
              /** Milliseconds from the request to the end of the answer. */
              tookMs: z.number().optional(),
            })
            .optional()
            .describe('The step of a model that ended with this message, for people.'),
          reasoning: z.string().optional().describe('What the model thought before this message, for people.'),
        }),
      ),
      next: z.number().describe('Position of the last returned message; `after` if there is none.'),
    }),
  own: true,
  scope: ({ taskId }) => [taskId],
  handle: ({ taskId, after, limit }, { caller }, host) =>
    host.read(function* (tx) {
      yield* requireOwn(tx, caller, [taskId])
      yield* loadTask(tx, taskId)
      const { rows } = yield* tx.message.page(taskId, after, limit)
      // Models read messages as they were written for them.
      const messages = rows.map((row) => ({
        ...toLedgerMessage(row),
        ...(caller.surface === 'model' ? {} : omitUndefined({ step: stepIn(row), reasoning: reasoningIn(row.step) })),
      }))
      return { messages, next: rows.at(-1)?.n ?? after }
    }),
})

function stepIn({ step }: MessageRecord) {
  if (step === null) return undefined
  const { modelId, usage, tookMs } = step
  return { modelId, usage, ...omitUndefined({ tookMs }) }
}
