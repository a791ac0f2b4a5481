// `errand fail`: whoever works on a task from outside says that it cannot be done, and why.
import { failureSuffix } from '../../../entities/task.ts'
import { texts } from '../arguments.ts'
import { printValue } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { asOwner, ownerOptions, quoteIfClaimed } from '../owner-flags.ts'
import { findTask } from '../task-ref.ts'
import { endReason, stateWord, taskLabel } from '../task-words.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'fail ID REASON… [--as OWNER] [--fence N] [--code CODE]',
  help: [
    'Fails a task that is worked on from outside. "errand retry" opens it again.',
    '  --as OWNER   whose claim it is; default: ERRAND_OWNER',
    '  --fence N    the number of the claim, as "errand claim" printed it; required with a lease',
    '  --code CODE  what programs see; default: TASK_FAILED',
  ].join('\n'),
  options: { ...ownerOptions, ...texts('code') },
  positionals: { min: 2 },
  run: (io, { values, positionals: [ref, ...words] }) =>
    withLedger(io, values, async (engine) => {
      const task = await findTask(engine, ref as string)
      const quote = quoteIfClaimed(io, values, task)
      const failed = await asOwner(task, quote, () =>
        engine.fail(task.id, words.join(' '), { ...quote, code: values.code }),
      )
      printValue(io, values, failed, `${taskLabel(failed)} ${stateWord(failed)}${failureSuffix(endReason(failed))}`)
    }),
})
