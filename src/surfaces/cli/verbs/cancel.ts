// `errand cancel`: cancels tasks and what is below them.
import { forEachTask } from '../each-task.ts'
import { defineVerb } from '../verb.ts'

export const cancel = defineVerb({
  usage: 'cancel ID… [--reason R]',
  help: 'Cancels tasks and everything below them, for good. Running commands are ended, in all processes.',
  options: { reason: { type: 'string', short: 'r' } },
  positionals: { min: 1 },
  run: (io, args) => forEachTask(io, args, (engine, task) => engine.cancel(task.id, args.values.reason)),
})
