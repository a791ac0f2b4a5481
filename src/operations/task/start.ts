// task:start: starts a task that is held until then. A task without an executor is then worked on by hand.
import { start } from '../steps/task-lifecycle.ts'
import { taskChange } from './define-change.ts'

export const taskStart = taskChange({
  id: 'task:start',
  description: 'Starts a task that waits to be started. A task without an executor is then worked on by hand.',
  routes: [
    { endpoint: 'POST /tasks/{taskId}/start', tag: 'Control', operationId: 'startTask', summary: 'Start a task' },
  ],
  verb: {
    name: 'start',
    group: 'steer',
    summary: 'start a held task, or one that no executor runs',
    help: 'Starts tasks that are held until then. A task that no executor runs is then worked on by hand.',
  },
  input: () => ({}),
  models: false,
  step: ({ taskId }, ctx) => start(taskId, ctx),
})
