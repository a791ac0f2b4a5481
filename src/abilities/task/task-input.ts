// Pieces of input and output that many task abilities have in common.
import { z } from 'zod'
import { type Task, taskStatuses } from '../../entities/task.ts'
import { processStatuses, processStatusOf } from '../views/status-words.ts'

export const taskIdSchema = z.string().min(1).max(100)

/** At most so many of a list; 0 gives none. */
export const limitSchema = z.int().min(0).max(1_000)
export const usualLimit = 100

/** How a task stands after a change. */
export const standingSchema = z.object({
  taskId: z.string(),
  status: z.enum(processStatuses),
  canonicalStatus: z.enum(taskStatuses),
})

export function standingOf(task: Task): z.output<typeof standingSchema> {
  return { taskId: task.id, status: processStatusOf(task), canonicalStatus: task.status }
}
