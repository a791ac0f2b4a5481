// task:heartbeat: renews the lease of a claim.
import { heartbeat } from '../steps/claim.ts'
import { claimantOf, claimantShape } from './claimant.ts'
import { taskChange } from './define-change.ts'

export const taskHeartbeat = taskChange({
  id: 'task:heartbeat',
  description: 'Renews the lease of a claim.',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/heartbeat',
      tag: 'Control',
      operationId: 'heartbeatTask',
      summary: 'Renew the lease of a claim',
    },
  ],
  input: () => claimantShape,
  models: false,
  answersWritten: true,
  step: ({ taskId, ...claim }, ctx, context) => heartbeat(taskId, claimantOf(context, claim), ctx),
})
