// `errand memory search`: the facts that fit some words, as an agent recalls them.
import { mainBranch } from '../../../../entities/memory.ts'
import { texts, wholeNumber } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { shortFactId } from '../../memory-text.ts'
import { withLedger } from '../../open-ledger.ts'
import { printTable } from '../../table.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'memory search WORDS… [--branch B] [--limit N]',
  help: [
    'Finds the facts of a branch, and of those above it, that fit some words best: the same that an agent recalls when it begins. --json gives one fact a line.',
    `  --branch B  default: ${mainBranch}`,
    '  --limit N   so many; default 5',
  ].join('\n'),
  options: texts('branch', 'limit'),
  positionals: { min: 1 },
  async run(io, { values, positionals }) {
    const query = {
      query: positionals.join(' '),
      branch: values.branch,
      limit: values.limit === undefined ? undefined : wholeNumber('limit', values.limit, 1),
    }
    return await withLedger(io, values, async (engine) => {
      const { chunks } = await engine.bus.call('mem:retrieve', query, fromHere)
      printTable(io, values, chunks, 'Nothing fits.', {
        id: ({ id }) => shortFactId(id),
        score: ({ score }) => score.toFixed(2),
        sure: ({ confidence }) => confidence.toFixed(2),
        category: ({ category }) => category,
        branch: ({ branch }) => branch,
        fact: ({ text }) => text,
      })
    })
  },
})
