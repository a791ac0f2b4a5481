// `errand unblock`: a task goes on without others that it would come after.
import { changeBlockers } from '../change-blockers.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'unblock ID BLOCKER…',
  help: 'Lets a task go on without others that it would come after: those that failed or were canceled, say. One that it does not come after is no error.',
  options: {},
  positionals: { min: 2 },
  run: (io, args) => changeBlockers(io, args, (engine, task, blockers) => engine.unblock(task.id, blockers)),
})
