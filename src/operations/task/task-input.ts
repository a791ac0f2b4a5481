// Input and output fields that many task abilities share.
import { z } from 'zod'
import { versionSchema } from '../../entities/options.ts'
import { type Task, taskStatuses } from '../../entities/task.ts'
import { taskIdSchema } from '../../entities/task-fields.ts'

export { taskIdSchema }

/** For the abilities that change one task. */
const expectedVersionSchema = versionSchema
  .optional()
  .describe('The `version` that was read. Refused if the task has been written since.')
export const verbShape = { taskId: taskIdSchema, expectedVersion: expectedVersionSchema }

/** Maximum number of entries; 0 returns none. */
export const limitSchema = z.int().min(0).max(1_000)
export const defaultLimit = 100

/** The status of a task after a change. */
export const taskStateSchema = z.object({
  taskId: z.string(),
  status: z.enum(taskStatuses),
  statusReason: z.string().nullable(),
  /** Queued: waits only for a slot and the end of its last run. Without an executor: can be claimed. */
  ready: z.boolean(),
  /** Incremented by every write to the task. */
  version: z.int(),
})

export function standingOf({ id: taskId, ...task }: Task): z.output<typeof taskStateSchema> {
  const { status, statusReason, ready, version } = task
  return { taskId, status, statusReason, ready, version }
}
