// task:unblock: removes blockers from a task.
import { z } from 'zod'
import { unblock } from '../steps/dependencies.ts'
import { guardUnblock } from '../steps/right-to-answer.ts'
import { taskChange } from './define-change.ts'
import { taskIdSchema } from './task-input.ts'

export const taskUnblock = taskChange({
  id: 'task:unblock',
  description: 'Removes blockers from a task.',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/unblock',
      tag: 'Control',
      operationId: 'unblockTask',
      summary: 'Remove blockers from a task',
    },
  ],
  input: () => ({ blockedBy: z.array(taskIdSchema).min(1).max(10_000) }),
  args: ['blockedBy'],
  models: false,
  others: ({ blockedBy }) => blockedBy,
  step: ({ taskId, blockedBy }, ctx, { caller }) => guardUnblock(unblock(taskId, blockedBy, ctx), blockedBy, caller),
})
