// What summaries quote of many facts: the surest, each on one line.
import type { FactRecord } from '../entities/memory.ts'
import { shortened } from './shortened.ts'

const mostFindings = 5
const longestFinding = 200

/** The five surest, of equals the oldest, joined by semicolons, without what would end a sentence. */
export function keyFindings(facts: readonly FactRecord[]): string {
  const surest = facts.toSorted((a, b) => b.confidence - a.confidence || a.seq - b.seq).slice(0, mostFindings)
  return surest.map(({ text }) => shortened(text, longestFinding).replace(/[.;\s]+$/, '')).join('; ')
}
