// task:pause: stops the work on a task, to be taken up again.
import { pause } from '../../steps/verbs.ts'
import { taskChange } from './task-change.ts'

export const taskPause = taskChange({
  id: 'task:pause',
  description: 'Pauses a running task: its work stops, and it keeps all that was done.',
  input: {},
  step: ({ taskId }, ctx) => pause(taskId, ctx),
})
