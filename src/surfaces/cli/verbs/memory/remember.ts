// `errand memory remember`: states a fact, without an observation.
import { texts } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { printValue } from '../../io.ts'
import { fraction } from '../../memory-place.ts'
import { withLedger } from '../../open-ledger.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'memory remember TEXT… [--branch B] [--category C] [--confidence P]',
  help: [
    'States a fact and prints its id. It is there as it was said: only a consolidation compares it with others.',
    '  --branch B      default: main, what is known for good',
    '  --category C    bug_fix, architecture, decision, … ; default: found out from its words',
    '  --confidence P  how certain it is, 0 to 1; default 0.7',
  ].join('\n'),
  options: texts('branch', 'category', 'confidence'),
  positionals: { min: 1 },
  async run(io, { values, positionals }) {
    const fact = {
      text: positionals.join(' '),
      branch: values.branch,
      category: values.category,
      confidence: values.confidence === undefined ? undefined : fraction('confidence', values.confidence),
    }
    return await withLedger(io, values, async (engine) => {
      const remembered = await engine.bus.call('mem:remember', fact, fromHere)
      printValue(io, values, remembered, remembered.factId)
    })
  },
})
