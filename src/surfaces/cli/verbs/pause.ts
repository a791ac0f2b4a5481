// `errand pause`: stops working tasks until they are resumed.
import { forEachTask } from '../each-task.ts'
import { defineVerb } from '../verb.ts'

export const pause = defineVerb({
  usage: 'pause ID…',
  help: 'Stops working tasks until they are resumed. A running command is ended; recorded results are kept.',
  positionals: { min: 1 },
  run: (io, args) => forEachTask(io, args, (engine, task) => engine.pause(task.id)),
})
