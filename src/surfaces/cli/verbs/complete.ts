// `errand complete`: whoever works on a task from outside says that it is done, and what came of it.
import { misuse } from '../arguments.ts'
import { exitCodes } from '../exit-code.ts'
import { print, printJson } from '../io.ts'
import { jsonOption } from '../json-option.ts'
import { withLedger } from '../open-ledger.ts'
import { asOwner, ownerOptions, quoteIfClaimed } from '../owner-flags.ts'
import { findTask } from '../task-ref.ts'
import { stateWord, taskLabel } from '../task-words.ts'
import { defineVerb } from '../verb.ts'

export const completeVerb = defineVerb({
  usage: 'complete ID [--as OWNER] [--fence N] [--result JSON | RESULT…]',
  help: [
    'Completes a task that is worked on from outside. RESULT is a text, --result a JSON value.',
    '  --as OWNER  whose claim it is; default: ERRAND_OWNER',
    '  --fence N   the number of the claim, as "errand claim" printed it; required with a lease',
  ].join('\n'),
  options: { ...ownerOptions, result: { type: 'string' } },
  positionals: { min: 1 },
  async run(io, { values, positionals: [ref, ...words] }) {
    if (values.result !== undefined && words.length > 0)
      throw misuse(`The result is given twice: by --result and as "${words.join(' ')}".`)
    const json = values.result === undefined ? undefined : jsonOption('result', values.result, '{"ok": true}')
    const result = words.length > 0 ? words.join(' ') : json
    return await withLedger(io, values, async (engine) => {
      const task = await findTask(engine, ref as string)
      const quote = quoteIfClaimed(io, values, task)
      const completed = await asOwner(task, quote, () => engine.complete(task.id, result, quote))
      if (values.json) printJson(io, completed)
      else print(io, `${taskLabel(completed)} ${stateWord(completed)}`)
      return exitCodes.done
    })
  },
})
