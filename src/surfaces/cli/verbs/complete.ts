// `errand complete`: completes a task that no executor runs.
import { texts } from '../../terminal/arguments.ts'
import { printValue } from '../../terminal/io.ts'
import { givenResult } from '../../terminal/option-values.ts'
import { stateLabel, taskLabel } from '../../terminal/task-labels.ts'
import { withTask } from '../open-ledger.ts'
import { asOwner, claimTokenIfClaimed, ownerOptions } from '../owner-flags.ts'
import { defineVerb } from '../verb.ts'

export const complete = defineVerb({
  usage: 'complete ID [--as OWNER] [--fence N] [--result JSON | RESULT…]',
  help: [
    'Completes a task that has no executor. RESULT is text; --result takes a JSON value.',
    '  --as OWNER  the owner of the claim; default: ERRAND_OWNER',
    '  --fence N   the number of the claim, as "errand claim" printed it; required for a claim with a lease',
  ].join('\n'),
  options: { ...ownerOptions, ...texts('result') },
  positionals: { min: 1 },
  async run(io, args) {
    const result = givenResult(args.values.result, args.positionals.slice(1))
    await withTask(io, args, async (engine, task) => {
      const token = claimTokenIfClaimed(io, args.values, task)
      const completed = await asOwner(task, token, () => engine.complete(task.id, result, token))
      printValue(io, args.values, completed, `${taskLabel(completed)} ${stateLabel(completed)}`)
    })
  },
})
