// task:release: releases a claimed task, so that it can be claimed again.
import { spokenText } from '../../core/parse.ts'
import { release } from '../steps/claim.ts'
import { claimantOf, claimantShape } from './claimant.ts'
import { taskChange } from './define-change.ts'

export const taskRelease = taskChange({
  id: 'task:release',
  description: 'Releases a claimed task, so that it can be claimed again.',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/release',
      tag: 'Control',
      operationId: 'releaseTask',
      summary: 'Release a claimed task',
    },
  ],
  input: () => ({ ...claimantShape, reason: spokenText().trim().min(1).max(500).optional() }),
  models: false,
  step: ({ taskId, reason = null, ...claim }, ctx, context) => release(taskId, reason, claimantOf(context, claim), ctx),
})
