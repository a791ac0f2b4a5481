// A text against the facts of a branch: which of them say the same, which of them say the contrary, and what becomes of those. What
// contradicts is never taken for the same, however alike the words are (conformance Q-11).
import { subjectOf } from '../entities/disagreement.ts'
import type { FactRecord } from '../entities/memory.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { ConsolidationRun } from './consolidation-run.ts'
import type { Deliberation, FactLike, Ground, Resolution } from './deliberate.ts'
import { disputeFact, supersedeFact } from './fact-writes.ts'

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
  /** Alike too, but without the numbers that the text has: they do not say what it says. */
  lesser: AlikeFact[]
  contrary: ContraryFact[]
}

/** Against all active facts of a branch but itself; summaries are no candidates. */
export function* compare(
  tx: Tx,
  d: Deliberation,
  branch: string,
  incoming: FactLike & { id?: string },
): Op<Comparison> {
  const found: Comparison = { alike: [], lesser: [], contrary: [] }
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
    else if (isAlike) (d.lacksNumbers(fact.text, incoming.text) ? found.lesser : found.alike).push({ fact, likeness })
  }
  found.alike.sort(byRank)
  found.contrary.sort(byRank)
  return found
}

/** What a new fact is marked with: one that is alike to lesser ones is left for the level of its agent, where these may give way to it. */
export function comparedWith(d: Deliberation, text: string, lesser: readonly AlikeFact[]): string | null {
  return lesser.length === 0 ? d.measure(text) : null
}

function byRank(a: AlikeFact, b: AlikeFact): number {
  return b.likeness - a.likeness || b.fact.confidence - a.fact.confidence || a.fact.seq - b.fact.seq
}

export interface Settlement {
  /** The fact that was there. */
  there: FactRecord
  ground: Ground
  resolution: Resolution
}

/** So many of those that a fact is kept beside are named with it: of a value that is measured again and again there are thousands. */
const maxNamed = 20

/**
 * A fact that has come to a branch and contradicts others there: both stay and are flagged, or one gives way to the other. What was
 * decided, by which policy and on which ground, stands in the history. A pair is decided once: when the later of the two arrives.
 * Says what became of the incoming one.
 */
export function* settleContradictions(
  tx: Tx,
  d: Deliberation,
  run: ConsolidationRun,
  incoming: FactRecord,
  contrary: readonly ContraryFact[],
): Op<{ fact: FactRecord; settlements: Settlement[] }> {
  const since = yield* asOldAsFound(tx, incoming)
  const judged: Array<ContraryFact & { resolution: Resolution }> = []
  for (const each of contrary) {
    judged.push({ ...each, resolution: d.settle(since, yield* asOldAsFound(tx, each.fact)) })
  }
  // Where it gives way to one of them it settles nothing with the others.
  const winner = judged.find(({ resolution }) => resolution === 'there')
  let fact = incoming
  const settlements: Settlement[] = []
  for (const { fact: there, likeness, ground, resolution } of winner === undefined ? judged : [winner]) {
    const why = { similarity: likeness, note: noteOf(d, ground) }
    if (resolution === 'keep-both') {
      // One that is flagged already loses nothing by not being named once more.
      if (there.disputed && fact.disputed && settlements.length >= maxNamed) continue
      fact = yield* disputeFact(tx, d, fact)
      yield* disputeFact(tx, d, there)
      run.decide('contradicted', fact.id, { otherId: there.id, ...why })
    } else if (resolution === 'incoming') {
      yield* supersedeFact(tx, d, there, fact.id)
      run.decide('settled', there.id, { otherId: fact.id, ...why })
    } else {
      fact = yield* supersedeFact(tx, d, fact, there.id)
      run.decide('settled', fact.id, { otherId: there.id, ...why })
    }
    settlements.push({ there, ground, resolution })
  }
  return { fact, settlements }
}

/** A copy is as old as what it was carried from: when it was carried says nothing of when it was found. */
function* asOldAsFound(tx: Tx, fact: FactRecord): Op<FactRecord> {
  let { originId, createdAt } = fact
  while (originId !== null) {
    const origin: FactRecord | undefined = yield* tx.fact.get(originId)
    if (origin === undefined) break
    ;({ originId, createdAt } = origin)
  }
  return { ...fact, createdAt }
}

/** What the history says of it: by which policy, and on which ground. */
function noteOf({ settings: { onContradiction } }: Deliberation, ground: Ground): string {
  return `${typeof onContradiction === 'function' ? 'judge' : onContradiction}: ${ground}`
}

/** The ground, out of what the history says of a contradiction. */
export function groundIn(note: string | null): Ground {
  return note?.split(': ').at(-1) as Ground
}
