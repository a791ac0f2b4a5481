// `errand limit`: how many tasks may run at once on this ledger, in all processes together.
import { misuse, texts } from '../../../terminal/arguments.ts'
import { printValue } from '../../../terminal/io.ts'
import { executorLimitLine, sharedLimitLines } from '../../../terminal/limit-lines.ts'
import { withLedger } from '../open-ledger.ts'
import { defineVerb } from '../verb.ts'

export const limit = defineVerb({
  usage: 'limit [N | none] [--executor X]',
  help: [
    'Shows how many tasks may run at once on this ledger, in all processes together, or sets it; "none" takes the limit away.',
    'What runs already goes on. Each process also has a limit of its own: "errand run --concurrency".',
    '  --executor X  the limit of this executor: "errand limit --executor shell 2"',
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

/** Null takes it away. */
function parseLimit(text: string): number | null {
  if (text === 'none') return null
  const limit = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(limit) && limit >= 1) return limit
  throw misuse(`A limit is a whole number of at least 1, or "none", got "${text}".`, { value: text })
}
