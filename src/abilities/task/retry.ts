// task:retry: retries a failed task.
import { retryOptionsSchema } from '../../api/options.ts'
import { retry } from '../../steps/retry.ts'
import { taskChange } from './task-change.ts'

export const taskRetry = taskChange({
  id: 'task:retry',
  description: 'Starts a new attempt of a failed task. Completed calls are not repeated.',
  input: () => ({
    divergence: retryOptionsSchema().shape.divergence.describe(
      'allow: the attempt may make new calls even if it does not repeat all completed ones.',
    ),
  }),
  step: ({ taskId, divergence }, ctx) => retry(taskId, ctx, divergence),
})
