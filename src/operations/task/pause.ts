// task:pause: pauses a task.
import { pause } from '../steps/task-lifecycle.ts'
import { taskChange } from './define-change.ts'

export const taskPause = taskChange({
  id: 'task:pause',
  description: 'Pauses a running task. Its work stops, and completed calls are kept.',
  routes: [
    { endpoint: 'POST /tasks/{taskId}/pause', tag: 'Control', operationId: 'pauseTask', summary: 'Pause a task' },
  ],
  verb: {
    name: 'pause',
    group: 'steer',
    summary: 'stop a running task until it is resumed',
    help: 'Stops working tasks until they are resumed. A running command is ended; recorded results are kept.',
  },
  input: () => ({}),
  step: ({ taskId }, ctx) => pause(taskId, ctx),
})
