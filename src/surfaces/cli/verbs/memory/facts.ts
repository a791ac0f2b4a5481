// `errand memory facts`: the facts of a branch.
import type { Engine } from '../../../../api.ts'
import { factStatuses, mainBranch } from '../../../../entities/memory.ts'
import { oneOf, switches, texts, wholeNumber } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { note, printItems } from '../../io.ts'
import { factTable, nothingKnown } from '../../memory-text.ts'
import { withLedger } from '../../open-ledger.ts'
import { cleanLine } from '../../terminal-text.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'memory facts [--branch B] [--inherited] [--category C] [--status S] [--limit N]',
  help: [
    'Lists what agents have found out on a branch, the latest first: how certain it is (0 to 1), of which kind, who said it first. "disputed" is what another fact contradicts; "errand memory why ID" says which. --json gives one fact a line.',
    `  --branch B    default: ${mainBranch}, what is known for good; "errand memory branches" lists them`,
    '  --inherited   the facts of the branches above as well',
    '  --category C  only of this kind: bug_fix, architecture, decision, …',
    `  --status S    only those that are ${factStatuses.join(' or ')}; default: active`,
    '  --limit N     so many; default 50',
  ].join('\n'),
  options: { ...texts('branch', 'category', 'status', 'limit'), ...switches('inherited') },
  positionals: { max: 0 },
  async run(io, { values }) {
    const query = {
      branch: values.branch ?? mainBranch,
      inherited: values.inherited === true,
      category: values.category,
      status: values.status === undefined ? ('active' as const) : oneOf('status', values.status, factStatuses),
      limit: values.limit === undefined ? undefined : wholeNumber('limit', values.limit, 1),
    }
    const isNarrowed = values.category !== undefined || values.status !== undefined
    return await withLedger(io, values, async (engine) => {
      const { facts, next } = await engine.bus.call('mem:facts', query, fromHere)
      printItems(
        io,
        values,
        facts,
        facts.length === 0
          ? await whyNone(engine, query.branch, isNarrowed)
          : factTable(facts, { branches: query.inherited }, io.stdout.columns),
      )
      if (next !== null) note(io, 'There are more: --limit.')
    })
  },
})

/** Who looks for the first time looks at main, where nothing may have come yet. */
async function whyNone(engine: Engine, branch: string, isNarrowed: boolean): Promise<string> {
  const none = `No facts on ${cleanLine(branch)}.`
  if (branch !== mainBranch || isNarrowed) return none
  const { branches, next } = await engine.bus.call('mem:branches', { counts: true, limit: mostLookedAt }, fromHere)
  const isEmpty = next === null && branches.every(({ facts }) => facts === 0)
  return isEmpty ? nothingKnown : `${none} "errand memory branches" shows where there are some.`
}
const mostLookedAt = 1_000
