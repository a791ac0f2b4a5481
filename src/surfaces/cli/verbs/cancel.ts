// `errand cancel`: for ever, with everything below. What runs of it is ended, in whichever process that is.
import { forEachTask } from '../each-ref.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'cancel ID… [--reason R]',
  help: 'Cancels tasks and everything below them, for ever. A command that runs is ended in whichever process it runs.',
  options: { reason: { type: 'string', short: 'r' } },
  positionals: { min: 1 },
  run: (io, args) => forEachTask(io, args, (engine, task) => engine.cancel(task.id, args.values.reason)),
})
