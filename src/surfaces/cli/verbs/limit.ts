// `errand limit`: the limits that all processes of a ledger share.
import { misuse, texts } from '../../terminal/arguments.ts'
import { printValue } from '../../terminal/io.ts'
import { executorLimitLine, sharedLimitLines } from '../../terminal/limit-lines.ts'
import { withLedger } from '../open-ledger.ts'
import { defineVerb } from '../verb.ts'

export const limit = defineVerb({
  usage: 'limit [N | none] [--executor X]',
  help: [
    'Shows or sets how many tasks may run at once on this ledger, across all processes; "none" removes the limit.',
    'Running tasks are not stopped. Each process also has its own limit: "errand run --concurrency".',
    '  --executor X  the limit for this executor: "errand limit --executor shell 2"',
  ].join('\n'),
  options: texts('executor'),
  positionals: { max: 1 },
  async run(io, { values, positionals: [text] }) {
    const { executor } = values
    if (executor?.trim() === '') throw misuse('--executor takes the name of an executor, got "".')
    const limit = text === undefined ? undefined : parseLimit(text)
    return await withLedger(io, values, async (engine) => {
      const { shared } =
        limit === undefined
          ? await engine.limits()
          : await engine.setSharedLimits(
              executor === undefined ? { maxConcurrent: limit } : { limits: { [executor]: limit } },
            )
      const lines = executor === undefined ? sharedLimitLines(shared) : executorLimitLine(shared, executor)
      printValue(io, values, shared, lines)
    })
  },
})

/** Returns null for "none". */
function parseLimit(text: string): number | null {
  if (text === 'none') return null
  const limit = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(limit) && limit >= 1) return limit
  throw misuse(`A limit is a whole number of at least 1, or "none", got "${text}".`, { value: text })
}
