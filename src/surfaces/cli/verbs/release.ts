// `errand release`: the owner lets go of a task, and anybody may claim it.
import { printValue } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { asOwner, ownerOptions, quoteOf } from '../owner-flags.ts'
import { findTask } from '../task-ref.ts'
import { stateWord, taskLabel } from '../task-words.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'release ID --as OWNER [--fence N] [REASON…]',
  help: 'Lets go of a task that you claimed: it may be claimed again. --as defaults to ERRAND_OWNER; --fence is the number of the claim, required with a lease.',
  options: ownerOptions,
  positionals: { min: 1 },
  async run(io, { values, positionals: [ref, ...words] }) {
    const quote = quoteOf(io, values)
    const reason = words.join(' ')
    return await withLedger(io, values, async (engine) => {
      const task = await findTask(engine, ref as string)
      const released = await asOwner(task, quote, () =>
        engine.release(task.id, { ...quote, reason: reason || undefined }),
      )
      printValue(io, values, released, `${taskLabel(released)} released, now ${stateWord(released)}`)
    })
  },
})
