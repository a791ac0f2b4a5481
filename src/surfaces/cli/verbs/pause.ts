// `errand pause`: the command that runs is ended, and the task waits until somebody resumes it.
import { forEachTask } from '../each-ref.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'pause ID…',
  help: 'Stops working tasks until they are resumed. What a task has recorded so far stays.',
  options: {},
  positionals: { min: 1 },
  run: (io, args) => forEachTask(io, args, (engine, task) => engine.pause(task.id)),
})
