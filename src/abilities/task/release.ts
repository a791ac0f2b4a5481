// task:release: the owner gives a claimed task back, and others may claim it.
import { z } from 'zod'
import { release } from '../../steps/claim.ts'
import { claimantOf, claimantShape } from './claimant.ts'
import { taskChange } from './task-change.ts'

export const taskRelease = taskChange({
  id: 'task:release',
  description: 'Gives a claimed task back: others may claim it.',
  input: { ...claimantShape, reason: z.string().trim().min(1).max(500).optional() },
  models: false,
  step: ({ taskId, reason = null, ...said }, ctx, context) => release(taskId, reason, claimantOf(context, said), ctx),
})
