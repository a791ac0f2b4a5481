// `errand task objectives`: what is to be reached on a task, or more of it.
import { lists } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { withLedger } from '../../open-ledger.ts'
import { findTask } from '../../task-ref.ts'
import { contextOf, printObjectives } from '../../team-text.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'task objectives ID [--add TEXT]…',
  help: [
    'Lists the objectives of a task by number: todo, active, done or blocked, whose they are, and notes. --json gives one a line.',
    '  --add TEXT  one more; may be given several times',
  ].join('\n'),
  options: lists('add'),
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withLedger(io, values, async (engine) => {
      const { id: taskId } = await findTask(engine, ref)
      const { objectives } =
        values.add === undefined
          ? await contextOf(engine, taskId)
          : await engine.bus.call('objective:add', { taskId, descriptions: values.add }, fromHere)
      printObjectives(io, values, objectives)
    }),
})
