// `errand task context`: what an agent that comes new to a team's task has to know.
import { print, printJson } from '../../io.ts'
import { withLedger } from '../../open-ledger.ts'
import { findTask } from '../../task-ref.ts'
import { contextOf, contextTextOf } from '../../team-text.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'task context ID',
  help: 'Prints what one has to know to work on a task: what it is, its objectives, what agents before have done and who works on it now, the facts that the team has found, and how far it is. --json gives the same as an object.',
  options: {},
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withLedger(io, values, async (engine) => {
      const { id: taskId } = await findTask(engine, ref)
      if (values.json) printJson(io, await contextOf(engine, taskId))
      else print(io, await contextTextOf(engine, taskId))
    }),
})
