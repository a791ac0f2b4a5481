// `errand fail`: fails a task that no executor runs.
import { failureSuffix } from '../../../entities/task.ts'
import { texts } from '../../terminal/arguments.ts'
import { printValue } from '../../terminal/io.ts'
import { endReason, stateLabel, taskLabel } from '../../terminal/task-labels.ts'
import { withTask } from '../open-ledger.ts'
import { asOwner, claimTokenIfClaimed, ownerOptions } from '../owner-flags.ts'
import { defineVerb } from '../verb.ts'

export const fail = defineVerb({
  usage: 'fail ID REASON… [--as OWNER] [--fence N] [--code CODE]',
  help: [
    'Records that a task without an executor has failed. "errand retry" opens it again.',
    '  --as OWNER   the owner of the claim; default: ERRAND_OWNER',
    '  --fence N    the number of the claim, as "errand claim" printed it; required for a claim with a lease',
    '  --code CODE  the error code, for programs; default: TASK_FAILED',
  ].join('\n'),
  options: { ...ownerOptions, ...texts('code') },
  positionals: { min: 2 },
  run: (io, args) =>
    withTask(io, args, async (engine, task) => {
      const token = claimTokenIfClaimed(io, args.values, task)
      const reason = args.positionals.slice(1).join(' ')
      const failed = await asOwner(task, token, () =>
        engine.fail(task.id, reason, { ...token, code: args.values.code }),
      )
      const why = failureSuffix(endReason(failed))
      printValue(io, args.values, failed, `${taskLabel(failed)} ${stateLabel(failed)}${why}`)
    }),
})
