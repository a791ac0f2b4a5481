// task:retry: tries a failed task again.
import { retryOptionsSchema } from '../../api/options.ts'
import { retry } from '../../steps/retry.ts'
import { taskChange } from './task-change.ts'

export const taskRetry = taskChange({
  id: 'task:retry',
  description: 'Gives a failed task a new attempt; what was completed before is not done again.',
  input: {
    divergence: retryOptionsSchema.shape.divergence.describe(
      'allow: the attempt may make calls that are not recorded although completed ones are not asked for again.',
    ),
  },
  step: ({ taskId, divergence }, ctx) => retry(taskId, ctx, divergence),
})
