// `errand resume`: a paused task runs again as soon as there is a slot and a process that works.
import { forEachTask } from '../each-ref.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'resume ID…',
  help: 'Lets paused tasks run again: at once where an `errand run` is at work and has a slot, else with the next one.',
  options: {},
  positionals: { min: 1 },
  run: (io, args) => forEachTask(io, args, (engine, task) => engine.resume(task.id)),
})
