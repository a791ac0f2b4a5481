// task:heartbeat: the owner of a claimed task still works on it.
import { heartbeat } from '../../steps/claim.ts'
import { claimantOf, claimantShape } from './claimant.ts'
import { taskChange } from './task-change.ts'

export const taskHeartbeat = taskChange({
  id: 'task:heartbeat',
  description: 'Keeps the claim of a task alive: its lease begins anew.',
  input: claimantShape,
  models: false,
  answersWritten: true,
  step: ({ taskId, ...said }, ctx, context) => heartbeat(taskId, claimantOf(context, said), ctx),
})
