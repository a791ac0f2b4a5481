// task:block: adds blockers to a task.
import { z } from 'zod'
import { block } from '../steps/dependencies.ts'
import { taskChange } from './define-change.ts'
import { taskIdSchema } from './task-input.ts'

export const taskBlock = taskChange({
  id: 'task:block',
  description: 'Adds blockers to a task: it starts after they have ended.',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/block',
      tag: 'Control',
      operationId: 'blockTask',
      summary: 'Add blockers to a task',
    },
  ],
  input: () => ({ blockedBy: z.array(taskIdSchema).min(1).max(10_000) }),
  args: ['blockedBy'],
  models: false,
  others: ({ blockedBy }) => blockedBy,
  step: ({ taskId, blockedBy }, ctx) => block(taskId, blockedBy, ctx),
})
