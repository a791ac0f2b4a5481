// `errand why`: what a task waits for, and what would help.
import { exitCodes } from '../exit-code.ts'
import { print, printJson } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { endReason, stateWord, taskLabel } from '../task-words.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'why ID',
  help: 'Says why a task does not run: it waits for a slot, for a place among its siblings or under a limit, for other tasks, a time, an answer or a person, or has ended. Of one that runs: who works on it since when, and what its children mean for it.',
  options: {},
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [ref] }) {
    return await withLedger(io, values, async (engine) => {
      const why = await engine.why((await findTask(engine, ref as string)).id)
      if (values.json) {
        printJson(io, why)
        return exitCodes.done
      }
      print(io, why.message)
      if (why.reason === 'limit') print(io, '    errand limit')
      for (const id of why.tasks) {
        const task = await engine.get(id)
        if (task !== null) print(io, `  ${taskLabel(task)} ${stateWord(task)} ${endReason(task)}`.trimEnd())
      }
    })
  },
})
