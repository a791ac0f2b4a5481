// task:unblock: a task no longer comes after others.
import { z } from 'zod'
import { unblock } from '../../steps/edges.ts'
import { notWithoutAnswer } from '../../steps/right-to-answer.ts'
import { taskChange } from './task-change.ts'
import { taskIdSchema } from './task-input.ts'

export const taskUnblock = taskChange({
  id: 'task:unblock',
  description: 'Lets a task go on without others.',
  input: { blockedBy: z.array(taskIdSchema).min(1).max(10_000) },
  models: false,
  others: ({ blockedBy }) => blockedBy,
  step: ({ taskId, blockedBy }, ctx, { caller }) =>
    notWithoutAnswer(unblock(taskId, blockedBy, ctx), blockedBy, caller),
})
