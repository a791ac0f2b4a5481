// `errand release`: ends a claim, so that others may claim the task.
import { printValue } from '../../terminal/io.ts'
import { stateLabel, taskLabel } from '../../terminal/task-labels.ts'
import { withTask } from '../open-ledger.ts'
import { asOwner, claimTokenOf, ownerOptions } from '../owner-flags.ts'
import { defineVerb } from '../verb.ts'

export const release = defineVerb({
  usage: 'release ID --as OWNER [--fence N] [REASON…]',
  help: 'Releases a task that you claimed, so that others may claim it. --as defaults to ERRAND_OWNER; --fence is the number of the claim, required for a claim with a lease.',
  options: ownerOptions,
  positionals: { min: 1 },
  async run(io, args) {
    const token = claimTokenOf(io, args.values)
    const reason = args.positionals.slice(1).join(' ') || undefined
    await withTask(io, args, async (engine, task) => {
      const released = await asOwner(task, token, () => engine.release(task.id, { ...token, reason }))
      printValue(io, args.values, released, `${taskLabel(released)} released, now ${stateLabel(released)}`)
    })
  },
})
