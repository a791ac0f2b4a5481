// `errand memory why`: what was observed, and what was made of it until it became this fact.
import { fromHere } from '../../board-place.ts'
import { storyLines } from '../../fact-story.ts'
import { printValue } from '../../io.ts'
import { withLedger } from '../../open-ledger.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'memory why FACT',
  help: 'Tells why a fact is as it is, the oldest first: which observations said it and who made them, what made it more certain and by how much, which merge carried it from where, what it took the place of, what contradicts it, and which fact says it now. FACT is an id or a unique beginning of one, as "errand memory" lists them.',
  options: {},
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withLedger(io, values, async (engine) => {
      const why = await engine.bus.call('mem:why', { factId: ref }, fromHere)
      printValue(io, values, why, storyLines(why))
    }),
})
