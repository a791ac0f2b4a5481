// Pieces of input and output that many task abilities have in common.
import { z } from 'zod'
import { versionSchema } from '../../api/options.ts'
import { type Task, taskStatuses } from '../../entities/task.ts'
import { taskIdSchema } from '../../entities/task-fields.ts'

export { taskIdSchema }

/** Of the abilities that change one task. */
const expectedVersionSchema = versionSchema
  .optional()
  .describe('The `version` of the task as it was read: refused when the task has been written since.')
export const verbShape = { taskId: taskIdSchema, expectedVersion: expectedVersionSchema }

/** At most so many of a list; 0 gives none. */
export const limitSchema = z.int().min(0).max(1_000)
export const defaultLimit = 100

/** How a task stands after a change. */
export const standingSchema = z.object({
  taskId: z.string(),
  status: z.enum(taskStatuses),
  statusReason: z.string().nullable(),
  /** Queued: it waits for nothing but a slot and the end of its last run; or, without an executor, it may be claimed. */
  ready: z.boolean(),
  /** Counts what was written of it. */
  version: z.int(),
})

export function memoryScopeOf({ id: taskId, ...task }: Task): z.output<typeof standingSchema> {
  const { status, statusReason, ready, version } = task
  return { taskId, status, statusReason, ready, version }
}
