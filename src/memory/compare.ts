// A text against the facts of a branch: which of them say the same, and which of them say the contrary. What contradicts is never
// taken for the same, however alike the words are (conformance Q-11).
import { subjectOf } from '../entities/disagreement.ts'
import type { FactRecord } from '../entities/memory.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { Deliberation, FactLike, Ground } from './deliberate.ts'

export interface AlikeFact {
  fact: FactRecord
  likeness: number
}
export interface ContraryFact extends AlikeFact {
  ground: Ground
}
export interface Comparison {
  /** The best match first: the most alike, then the surest, then the oldest. */
  alike: AlikeFact[]
  contrary: ContraryFact[]
}

/** Against all active facts of a branch but itself; summaries are no candidates. */
export function* compare(
  tx: Tx,
  d: Deliberation,
  branch: string,
  incoming: FactLike & { id?: string },
): Op<Comparison> {
  const found: Comparison = { alike: [], contrary: [] }
  for (const fact of yield* possiblyRelated(tx, d, branch, incoming.text)) {
    if (fact.id === incoming.id) continue
    const likeness = d.likeness(fact.text, incoming.text)
    const ground = d.contradicts(fact, incoming)
    if (ground !== null) found.contrary.push({ fact, likeness, ground })
    else if (likeness > d.settings.threshold) found.alike.push({ fact, likeness })
  }
  found.alike.sort(byRank)
  found.contrary.sort(byRank)
  return found
}

function* possiblyRelated(tx: Tx, d: Deliberation, branch: string, text: string): Op<FactRecord[]> {
  const facts = new Map<string, FactRecord>()
  for (const fact of yield* d.candidates(tx, branch, text)) facts.set(fact.id, fact)
  for (const fact of yield* tx.fact.sameSubject(branch, subjectOf(text))) facts.set(fact.id, fact)
  return [...facts.values()]
}

function byRank(a: AlikeFact, b: AlikeFact): number {
  return b.likeness - a.likeness || b.fact.confidence - a.fact.confidence || a.fact.seq - b.fact.seq
}
