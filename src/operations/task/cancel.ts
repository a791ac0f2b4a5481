// task:cancel: cancels a task and all tasks below it, with a reason.
import { spokenText } from '../../core/parse.ts'
import { cancel } from '../steps/task-lifecycle.ts'
import { taskChange } from './define-change.ts'

export const taskCancel = taskChange({
  id: 'task:cancel',
  description: 'Cancels a task and all tasks below it permanently.',
  routes: [
    { endpoint: 'POST /tasks/{taskId}/cancel', tag: 'Control', operationId: 'cancelTask', summary: 'Cancel a task' },
  ],
  verb: {
    name: 'cancel',
    group: 'steer',
    summary: 'stop a task and its subtasks for good',
    help: 'Cancels tasks and everything below them, for good. Running commands are ended, in all processes.',
    options: { reason: { field: 'reason', shown: 'R', short: 'r' } },
  },
  input: () => ({
    reason: spokenText().trim().min(1).optional().describe('Stored as the `statusReason` of the task.'),
  }),
  args: ['reason'],
  step: ({ taskId, reason = null }, ctx) => cancel(taskId, reason, ctx),
})
