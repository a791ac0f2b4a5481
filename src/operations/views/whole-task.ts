// A task with all its fields, as the methods of the engine return it.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { questionSchema } from '../../entities/question.ts'
import { taskStatuses } from '../../entities/task.ts'
import { storedShape } from '../../entities/task-fields.ts'
import { storedErrorSchema } from './error-view.ts'

/** Times are in epoch milliseconds. */
export const wholeTaskSchema = once(() =>
  z.object({
    id: z.string(),
    seq: z.int(),
    ...storedShape(),
    status: z.enum(taskStatuses),
    ready: z.boolean(),
    statusReason: z.string().nullable(),
    result: z.unknown(),
    error: storedErrorSchema().nullable(),
    owner: z.string().nullable(),
    fence: z.int(),
    leaseUntil: z.number().nullable(),
    group: z.boolean(),
    forkedFrom: z.string().nullable(),
    system: z.boolean(),
    blockedBy: z.array(z.string()),
    questions: z.array(questionSchema()),
    progress: z.object({ fraction: z.number(), note: z.string().nullable(), at: z.number() }).nullable(),
    generation: z.int(),
    attempt: z.int(),
    run: z.int(),
    version: z.int(),
    createdAt: z.number(),
    updatedAt: z.number(),
    startedAt: z.number().nullable(),
    completedAt: z.number().nullable(),
  }),
)
