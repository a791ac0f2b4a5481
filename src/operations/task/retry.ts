// task:retry: retries a failed task.
import { z } from 'zod'
import { executorOptionsSchema } from '../../entities/executor.ts'
import { retry } from '../steps/retry.ts'
import { taskChange } from './define-change.ts'

export const taskRetry = taskChange({
  id: 'task:retry',
  description:
    'Starts a new attempt of a failed task. Completed calls are not repeated, except those named in `repeat`.',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/retry',
      tag: 'Control',
      operationId: 'retryTask',
      summary: 'Retry a failed task',
    },
  ],
  verb: {
    name: 'retry',
    group: 'steer',
    summary: 'give a failed task a new attempt',
    help: 'Gives failed tasks a new attempt. Completed calls are not repeated. --allow-divergence is for a task that failed with CALL_DIVERGED because its code changed: the new calls are made in addition to the recorded ones. --repeat makes a completed call again, for example because its result was lost; it may be given several times.',
    options: {
      'allow-divergence': { field: 'divergence', means: 'allow' },
      repeat: { field: 'repeat', shown: 'CALL', several: true },
    },
  },
  input: () => ({
    divergence: executorOptionsSchema().shape.divergence.describe(
      'allow: the attempt may make new calls even if it does not repeat all completed ones.',
    ),
    repeat: z
      .array(z.string().min(1))
      .max(1_000)
      .optional()
      .describe('Ids of completed calls that the attempt makes again, for example because their results were lost.'),
  }),
  step: ({ taskId, divergence, repeat }, ctx) => retry(taskId, ctx, { divergence, repeat }),
})
