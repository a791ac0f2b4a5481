// `errand memory archive`: lets nothing new come to a branch.
import { fromHere } from '../../board-place.ts'
import { printValue } from '../../io.ts'
import { withLedger } from '../../open-ledger.ts'
import { cleanLine } from '../../terminal-text.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'memory archive BRANCH',
  help: 'Closes a branch and those below it: nothing is observed or stated there any more, and what they hold can be read as before. main is never closed.',
  options: {},
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [branch = ''] }) =>
    withLedger(io, values, async (engine) => {
      const archived = await engine.bus.call('mem:archive', { branch }, fromHere)
      printValue(io, values, archived, `${cleanLine(branch)} is archived.`)
    }),
})
