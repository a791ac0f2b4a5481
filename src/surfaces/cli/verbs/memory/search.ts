// `errand memory search`: the facts that fit some words, as an agent recalls them.
import { mainBranch } from '../../../../entities/memory.ts'
import { wholeNumber } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { exitCodes } from '../../exit-code.ts'
import { print, printJson } from '../../io.ts'
import { shortFactId } from '../../memory-text.ts'
import { withLedger } from '../../open-ledger.ts'
import { formatTable } from '../../table.ts'
import { defineVerb } from '../../verb.ts'

export const searchVerb = defineVerb({
  usage: 'memory search WORDS… [--branch B] [--limit N]',
  help: [
    'Finds the facts of a branch, and of those above it, that fit some words best: the same that an agent recalls when it begins. --json gives one fact a line.',
    `  --branch B  default: ${mainBranch}`,
    '  --limit N   so many; default 5',
  ].join('\n'),
  options: { branch: { type: 'string' }, limit: { type: 'string' } },
  positionals: { min: 1 },
  async run(io, { values, positionals }) {
    const query = {
      query: positionals.join(' '),
      branch: values.branch,
      limit: values.limit === undefined ? undefined : wholeNumber('limit', values.limit, 1),
    }
    return await withLedger(io, values, async (engine) => {
      const { chunks } = await engine.bus.call('mem:retrieve', query, fromHere)
      if (values.json) for (const chunk of chunks) printJson(io, chunk)
      else if (chunks.length === 0) print(io, 'Nothing fits.')
      else {
        const rows = chunks.map(({ id, score, confidence, category, branch, text }) => [
          shortFactId(id),
          score.toFixed(2),
          confidence.toFixed(2),
          category,
          branch,
          text,
        ])
        const header = ['id', 'score', 'sure', 'category', 'branch', 'fact']
        for (const line of formatTable(header, rows, io.stdout.columns)) print(io, line)
      }
      return exitCodes.done
    })
  },
})
