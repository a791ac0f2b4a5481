// `errand block`: makes a task wait for others.
import { changeBlockers } from '../change-blockers.ts'
import { defineVerb } from '../verb.ts'

export const block = defineVerb({
  usage: 'block ID BLOCKER…',
  help: 'Makes a task wait for others: it starts only when they have completed. Refused while the task works, and when tasks would wait for each other.',
  positionals: { min: 2 },
  run: (io, args) => changeBlockers(io, args, (engine, task, blockers) => engine.block(task.id, blockers)),
})
