// task:resume: resumes a paused task.
import { resume } from '../steps/task-lifecycle.ts'
import { taskChange } from './define-change.ts'

export const taskResume = taskChange({
  id: 'task:resume',
  description: 'Resumes a paused task. It continues as soon as a slot is free.',
  routes: [
    { endpoint: 'POST /tasks/{taskId}/resume', tag: 'Control', operationId: 'resumeTask', summary: 'Resume a task' },
  ],
  input: () => ({}),
  step: ({ taskId }, ctx) => resume(taskId, ctx),
})
