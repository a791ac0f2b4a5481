// task:cancel: ends a task and all that is below it, and says why.
import { z } from 'zod'
import { cancel } from '../../steps/cancel.ts'
import { taskChange } from './task-change.ts'

export const taskCancel = taskChange({
  id: 'task:cancel',
  description: 'Cancels a task and its subtasks for good.',
  input: { reason: z.string().trim().min(1).optional().describe('Kept with the task as its `statusReason`.') },
  step: ({ taskId, reason = null }, ctx) => cancel(taskId, reason, ctx),
})
