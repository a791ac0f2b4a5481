// `errand block`: a task is to come after others, from now on.
import { changeBlockers } from '../change-blockers.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'block ID BLOCKER…',
  help: 'Lets a task come after others: it starts only when they have completed. Not while it works, and not in a circle.',
  options: {},
  positionals: { min: 2 },
  run: (io, args) => changeBlockers(io, args, (engine, task, blockers) => engine.block(task.id, blockers)),
})
