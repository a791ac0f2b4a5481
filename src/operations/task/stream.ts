// task:stream: the events, messages and live output of a task, from a position of the feed on and then live.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { audiences } from '../../entities/question.ts'
import { taskStatuses } from '../../entities/task.ts'
import { defineOperation } from '../define-operation.ts'
import { storedErrorSchema } from '../views/error-view.ts'
import { positionSchema } from '../views/event-view.ts'
import { taskIdSchema } from './task-input.ts'

const base = once(() => ({
  taskId: z.string(),
  /** Live items carry the position of the last durable one. */ seq: z.int(),
}))

/** The items of `engine.stream`. Ends with the task; for a task that has ended it replays everything and ends. */
export const taskStream = defineOperation({
  id: 'task:stream',
  access: 'read',
  description: 'Streams the statuses, text, messages, calls, questions and progress of a task until it ends.',
  routes: [
    { endpoint: 'GET /tasks/{taskId}/stream', tag: 'Tasks', operationId: 'streamTask', summary: 'Stream a task' },
    { endpoint: 'GET /stream/{taskId}', tag: 'Tasks', operationId: 'stream', summary: 'Stream a task' },
  ],
  input: () => z.strictObject({ taskId: taskIdSchema, after: positionSchema().default(0) }),
  output: () =>
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('start'), ...base(), name: z.string(), goal: z.string().nullable() }),
      z.object({
        type: z.literal('state'),
        ...base(),
        status: z.enum(taskStatuses),
        from: z.enum(taskStatuses).nullable(),
        reason: z.string().nullable(),
        /** Epoch milliseconds. */
        at: z.number(),
      }),
      z.object({
        type: z.literal('content'),
        ...base(),
        content: z.string(),
        messageId: z.string().optional(),
        /** Start of the text within the message, in characters. */
        offset: z.int().optional(),
        /** Of output that was written to the standard error; absent for other output. */
        stream: z.literal('stderr').optional(),
      }),
      z.object({
        type: z.literal('message'),
        ...base(),
        messageId: z.string(),
        role: z.string(),
        content: z.string(),
        announcement: z.boolean(),
      }),
      z.object({
        type: z.literal('question'),
        ...base(),
        questionId: z.string(),
        question: z.string(),
        for: z.enum(audiences),
        schema: z.unknown(),
        default: z.unknown().optional(),
      }),
      z.object({ type: z.literal('machine'), ...base(), event: z.string(), value: z.unknown() }),
      z.object({ type: z.literal('emitted'), ...base(), event: z.looseObject({ type: z.string() }) }),
      z.object({ type: z.literal('progress'), ...base(), fraction: z.number(), note: z.string().nullable() }),
      z.object({ type: z.literal('tool_call'), ...base(), callId: z.string(), tool: z.string(), args: z.unknown() }),
      z.object({
        type: z.literal('tool_result'),
        ...base(),
        callId: z.string(),
        tool: z.string(),
        result: z.unknown(),
        error: storedErrorSchema().optional(),
      }),
      z.object({ type: z.literal('error'), ...base(), error: storedErrorSchema(), willRetry: z.boolean() }),
      z.object({ type: z.literal('end'), ...base(), status: z.enum(['completed', 'failed', 'canceled']) }),
    ]),
  models: false,
  own: true,
  scope: ({ taskId }) => [taskId],
  async *stream({ taskId, after }, { caller, signal }, host) {
    const engine = await host.engineFor(caller)
    for await (const item of engine.stream(taskId, { after, signal })) yield item
  },
})
