// `errand unblock`: stops a task from waiting for others.
import { changeBlockers } from '../change-blockers.ts'
import { defineVerb } from '../verb.ts'

export const unblock = defineVerb({
  usage: 'unblock ID BLOCKER…',
  help: 'Stops a task from waiting for the given tasks, for example failed or canceled ones. Tasks that it is not waiting for are ignored.',
  positionals: { min: 2 },
  run: (io, args) => changeBlockers(io, args, (engine, task, blockers) => engine.unblock(task.id, blockers)),
})
