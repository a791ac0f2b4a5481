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
  const onSubject = yield* tx.fact.sameSubject(branch, subjectOf(incoming.text))
  const ofSubject = new Set(onSubject.map(({ id }) => id))
  const facts = new Map(
    [...(yield* d.candidates(tx, branch, incoming.text)), ...onSubject].map((fact) => [fact.id, fact]),
  )
  for (const fact of facts.values()) {
    if (fact.id === incoming.id) continue
    const likeness = d.likeness(fact.text, incoming.text)
    const isAlike = likeness > d.settings.threshold
    const ground = d.contradicts(fact, incoming, isAlike || ofSubject.has(fact.id))
    if (ground !== null) found.contrary.push({ fact, likeness, ground })
    else if (isAlike) found.alike.push({ fact, likeness })
  }
  found.alike.sort(byRank)
  found.contrary.sort(byRank)
  return found
}

function byRank(a: AlikeFact, b: AlikeFact): number {
  return b.likeness - a.likeness || b.fact.confidence - a.fact.confidence || a.fact.seq - b.fact.seq
}
