// task:fail: fails a task that is worked on from outside, permanently.
import { z } from 'zod'
import { spokenText } from '../../core/parse.ts'
import { fail } from '../steps/task-lifecycle.ts'
import { claimantOf, claimantShape } from './claimant.ts'
import { taskChange } from './define-change.ts'

export const taskFail = taskChange({
  id: 'task:fail',
  description: 'Fails a task that is worked on from outside, with the reason.',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/fail',
      tag: 'Control',
      operationId: 'failTask',
      summary: 'Fail a task that is worked on from outside',
    },
  ],
  input: () => ({
    reason: spokenText().trim().min(1),
    code: z.string().min(1).max(100).default('TASK_FAILED').describe('Error code for programs. Default TASK_FAILED.'),
    ...claimantShape,
  }),
  args: ['reason'],
  models: false,
  step: ({ taskId, reason, code, ...claim }, ctx, context) =>
    fail(taskId, { reason, code }, claimantOf(context, claim), ctx),
})
