// `errand why`: what a task waits for, and what would help.
import { printValue } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { whyLines } from '../task-words.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'why ID',
  help: 'Says why a task does not run: it waits for a slot, for a place among its siblings or under a limit, for other tasks, a time, an answer or a person, or has ended. Of one that runs: who works on it since when, and what its children mean for it.',
  options: {},
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withLedger(io, values, async (engine) => {
      const why = await engine.why((await findTask(engine, ref)).id)
      printValue(io, values, why, await whyLines(engine, why))
    }),
})
