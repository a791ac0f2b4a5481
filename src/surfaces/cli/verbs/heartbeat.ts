// `errand heartbeat`: a sign of life, by which the lease of a claim begins anew.
import { printValue } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { asOwner, ownerOptions, quoteOf } from '../owner-flags.ts'
import { findTask } from '../task-ref.ts'
import { ownerWords, taskLabel } from '../task-words.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'heartbeat ID --as OWNER [--fence N]',
  help: 'Says that you still work on a task that you claimed: its lease begins anew. --as defaults to ERRAND_OWNER; --fence is the number of the claim, required with a lease.',
  options: ownerOptions,
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [ref] }) {
    const quote = quoteOf(io, values)
    return await withLedger(io, values, async (engine) => {
      const task = await findTask(engine, ref as string)
      const alive = await asOwner(task, quote, () => engine.heartbeat(task.id, quote))
      printValue(io, values, alive, `${taskLabel(alive)} is ${ownerWords(alive)}`)
    })
  },
})
