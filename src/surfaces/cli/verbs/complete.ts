// `errand complete`: whoever works on a task from outside says that it is done, and what came of it.
import { texts } from '../arguments.ts'
import { printValue } from '../io.ts'
import { givenResult } from '../json-option.ts'
import { withLedger } from '../open-ledger.ts'
import { asOwner, ownerOptions, quoteIfClaimed } from '../owner-flags.ts'
import { findTask } from '../task-ref.ts'
import { stateWord, taskLabel } from '../task-words.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'complete ID [--as OWNER] [--fence N] [--result JSON | RESULT…]',
  help: [
    'Completes a task that is worked on from outside. RESULT is a text, --result a JSON value.',
    '  --as OWNER  whose claim it is; default: ERRAND_OWNER',
    '  --fence N   the number of the claim, as "errand claim" printed it; required with a lease',
  ].join('\n'),
  options: { ...ownerOptions, ...texts('result') },
  positionals: { min: 1 },
  async run(io, { values, positionals: [ref, ...words] }) {
    const result = givenResult(values.result, words)
    return await withLedger(io, values, async (engine) => {
      const task = await findTask(engine, ref as string)
      const quote = quoteIfClaimed(io, values, task)
      const completed = await asOwner(task, quote, () => engine.complete(task.id, result, quote))
      printValue(io, values, completed, `${taskLabel(completed)} ${stateWord(completed)}`)
    })
  },
})
