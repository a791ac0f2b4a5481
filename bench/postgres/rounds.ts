// In each round every sample is taken once, in the reverse order in every other round, so that a slow phase of the machine affects all.
import { shortNumber } from '../runner/run-row.ts'
import { type Spread, spreadOf } from '../runner/statistics.ts'
import type { Comparison, Figures, Order } from './sample.ts'
import { type Site, take } from './take.ts'

/** The figures of each round, by the name of the sample. */
export type Found = Record<string, Figures[]>

export async function runRounds(
  samples: Readonly<Record<string, Order>>,
  site: Site,
  rounds: number,
  { before, say }: { before: (first: boolean) => Promise<void>; say: (text: string) => void },
): Promise<Found> {
  const found: Found = {}
  for (let round = 0; round < rounds; round++) {
    await before(round === 0)
    say(`round ${round + 1} of ${rounds}`)
    for (const [name, order] of round % 2 === 0 ? Object.entries(samples) : Object.entries(samples).toReversed()) {
      const figures = await take(order, site)
      found[name] = [...(found[name] ?? []), figures]
      say(`  ${name}: ${shortNumber(figures.rate)}/s`)
    }
  }
  return found
}

export interface Compared {
  comparison: Comparison
  spread: Spread
  /** Undefined without an aim. */
  isMet?: boolean
}

/** Each within its round. A figure that could not be measured is left out. */
export function compare(comparisons: readonly Comparison[], found: Found): Compared[] {
  return comparisons.flatMap((comparison): Compared[] => {
    const { figure, of, beside, atLeast, atMost } = comparison
    const values = (found[of] ?? []).flatMap((figures, round) => {
      const value = figures[figure]
      const other = beside === undefined ? 1 : found[beside]?.[round]?.[figure]
      return value === undefined || other === undefined ? [] : [value / other]
    })
    if (values.length === 0) return []
    const spread = spreadOf(values)
    if (atLeast === undefined && atMost === undefined) return [{ comparison, spread }]
    const isMet = spread.median >= (atLeast ?? -Infinity) && spread.median <= (atMost ?? Infinity)
    return [{ comparison, spread, isMet }]
  })
}
