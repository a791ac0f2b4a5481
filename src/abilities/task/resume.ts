// task:resume: lets a paused task go on.
import { resume } from '../../steps/verbs.ts'
import { taskChange } from './task-change.ts'

export const taskResume = taskChange({
  id: 'task:resume',
  description: 'Lets a paused task go on, as soon as there is a slot for it.',
  input: {},
  step: ({ taskId }, ctx) => resume(taskId, ctx),
})
