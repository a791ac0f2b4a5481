// task:resume: resumes a paused task.
import { resume } from '../steps/task-lifecycle.ts'
import { taskChange } from './define-change.ts'

export const taskResume = taskChange({
  id: 'task:resume',
  description: 'Resumes a paused task. It continues as soon as a slot is free.',
  routes: [
    { endpoint: 'POST /tasks/{taskId}/resume', tag: 'Control', operationId: 'resumeTask', summary: 'Resume a task' },
  ],
  verb: {
    name: 'resume',
    group: 'steer',
    summary: 'let a paused task run again',
    help: 'Lets paused tasks run again: at once if an "errand run" of the plan or an "errand serve" is working and has a free slot, else when the next one starts.',
  },
  input: () => ({}),
  step: ({ taskId }, ctx) => resume(taskId, ctx),
})
