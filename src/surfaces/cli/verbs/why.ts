// `errand why`: why a task does not run.
import { printValue } from '../../terminal/io.ts'
import { whyLines } from '../../terminal/task-labels.ts'
import { withTask } from '../open-ledger.ts'
import { defineVerb } from '../verb.ts'

export const why = defineVerb({
  usage: 'why ID',
  help: 'Explains why a task does not run: it waits for a slot, a limit, a sibling, another task, a time, an answer or a claim, or it has ended. For a running task, says who works on it, since when, and how its children affect it.',
  positionals: { min: 1, max: 1 },
  run: (io, args) =>
    withTask(io, args, async (engine, task) => {
      const why = await engine.why(task.id)
      printValue(io, args.values, why, await whyLines(engine, why))
    }),
})
