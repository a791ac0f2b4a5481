// `errand heartbeat`: renews the lease of a claim.
import { printValue } from '../../terminal/io.ts'
import { ownerLabel, taskLabel } from '../../terminal/task-labels.ts'
import { withTask } from '../open-ledger.ts'
import { asOwner, claimTokenOf, ownerOptions } from '../owner-flags.ts'
import { defineVerb } from '../verb.ts'

export const heartbeat = defineVerb({
  usage: 'heartbeat ID --as OWNER [--fence N]',
  help: 'Renews the lease of a task that you claimed. --as defaults to ERRAND_OWNER; --fence is the number of the claim, required for a claim with a lease.',
  options: ownerOptions,
  positionals: { min: 1, max: 1 },
  async run(io, args) {
    const token = claimTokenOf(io, args.values)
    await withTask(io, args, async (engine, task) => {
      const renewed = await asOwner(task, token, () => engine.heartbeat(task.id, token))
      printValue(io, args.values, renewed, `${taskLabel(renewed)} is ${ownerLabel(renewed)}`)
    })
  },
})
