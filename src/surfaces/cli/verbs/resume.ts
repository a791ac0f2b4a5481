// `errand resume`: lets paused tasks run again.
import { forEachTask } from '../each-task.ts'
import { defineVerb } from '../verb.ts'

export const resume = defineVerb({
  usage: 'resume ID…',
  help: 'Lets paused tasks run again: at once if an "errand run" of the plan or an "errand serve" is working and has a free slot, else when the next one starts.',
  positionals: { min: 1 },
  run: (io, args) => forEachTask(io, args, (engine, task) => engine.resume(task.id)),
})
