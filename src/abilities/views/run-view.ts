// Runs and calls of a task as the engine lists them.
import { z } from 'zod'
import { callStatuses } from '../../entities/call.ts'
import { runOutcomes, runStatuses } from '../../entities/run.ts'
import { onInterruptPolicies } from '../../entities/task-fields.ts'
import { storedErrorSchema } from './error-view.ts'

/** Every time is in epoch milliseconds. */
export const runSchema = z.object({
  taskId: z.string(),
  number: z.int(),
  attempt: z.int(),
  instanceId: z.string(),
  status: z.enum(runStatuses),
  /** Null while live. */
  outcome: z.enum(runOutcomes).nullable(),
  error: storedErrorSchema.nullable(),
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  closedAt: z.number().nullable(),
  dueAt: z.number().nullable(),
})

export const callSchema = z.object({
  seq: z.int(),
  id: z.string(),
  taskId: z.string(),
  run: z.int(),
  attempt: z.int(),
  name: z.string(),
  params: z.unknown(),
  status: z.enum(callStatuses),
  onInterrupt: z.enum(onInterruptPolicies),
  details: z.unknown(),
  result: z.unknown(),
  error: storedErrorSchema.nullable(),
  startMessageId: z.string().nullable(),
  endMessageId: z.string().nullable(),
  dueAt: z.number().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
})
