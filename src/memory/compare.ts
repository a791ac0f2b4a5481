// Compares a text with the facts of a branch: which are alike, which contradict it, and how contradictions are settled. A fact that
// contradicts the text is never a duplicate, however alike the words are.
import { subjectOf } from '../entities/disagreement.ts'
import type { FactRecord } from '../entities/memory.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { ConsolidationRun } from './consolidation-run.ts'
import { disputeFact, supersedeFact } from './fact-writes.ts'
import type { FactLike, Ground, MemoryStep, Resolution } from './memory-step.ts'
import { together } from './outside-answers.ts'

export interface AlikeFact {
  fact: FactRecord
  likeness: number
}
export interface ContraryFact extends AlikeFact {
  ground: Ground
}
export interface Comparison {
  /** Best match first: most alike, then highest confidence, then oldest. */
  alike: AlikeFact[]
  /** Alike, but without the numbers of the text: they say less. */
  lesser: AlikeFact[]
  contrary: ContraryFact[]
}

/** Compares with all active facts of a branch except itself; summaries are excluded. */
export function* compare(
  tx: Tx,
  memory: MemoryStep,
  branch: string,
  incoming: FactLike & { id?: string },
): Op<Comparison> {
  const found: Comparison = { alike: [], lesser: [], contrary: [] }
  const onSubject = yield* tx.fact.sameSubject(branch, subjectOf(incoming.text))
  const ofSubject = new Set(onSubject.map(({ id }) => id))
  const facts = new Map(
    [...(yield* memory.candidates(tx, branch, incoming.text)), ...onSubject].map((fact) => [fact.id, fact]),
  )
  if (incoming.id !== undefined) facts.delete(incoming.id)
  const compared = yield* together([...facts.values()], (fact) =>
    compareOne(memory, fact, incoming, ofSubject.has(fact.id)),
  )
  for (const { fact, likeness, ground } of compared) {
    if (ground !== null) found.contrary.push({ fact, likeness, ground })
    else if (likeness > memory.settings.threshold) {
      ;(memory.lacksNumbers(fact.text, incoming.text) ? found.lesser : found.alike).push({ fact, likeness })
    }
  }
  found.alike.sort(byRank)
  found.contrary.sort(byRank)
  return found
}

function* compareOne(
  memory: MemoryStep,
  fact: FactRecord,
  incoming: FactLike,
  isOfSubject: boolean,
): Op<AlikeFact & { ground: Ground | null }> {
  const likeness = yield* memory.likeness(fact.text, incoming.text)
  const areRelated = isOfSubject || likeness > memory.settings.threshold
  return { fact, likeness, ground: yield* memory.contradicts(fact, incoming, areRelated) }
}

/** Those of the facts that are alike to the first one. */
export function* alikeTo(memory: MemoryStep, { text }: FactRecord, facts: readonly FactRecord[]): Op<FactRecord[]> {
  const areAlike = yield* together(facts, (fact) => memory.isAlike(text, fact.text))
  return facts.filter((_, at) => areAlike[at])
}

/** The `comparedBy` of a new fact. Null if it is alike to lesser facts: the agent level compares it again and may supersede them. */
export function* comparedWith(memory: MemoryStep, text: string, lesser: readonly AlikeFact[]): Op<string | null> {
  return lesser.length === 0 ? yield* memory.measure(text) : null
}

function byRank(a: AlikeFact, b: AlikeFact): number {
  return b.likeness - a.likeness || b.fact.confidence - a.fact.confidence || a.fact.seq - b.fact.seq
}

export interface Settlement {
  /** The existing fact. */
  existing: FactRecord
  ground: Ground
  resolution: Resolution
}

/** Disputed facts recorded per fact: there may be thousands of a value that is measured repeatedly. */
const maxNamed = 20

/**
 * Settles the contradictions between a new fact of a branch and existing ones: both stay and are flagged as disputed, or one supersedes
 * the other. The history records decision, policy and ground. Each pair is settled once, when the later fact arrives. Returns the new
 * fact as it is afterwards.
 */
export function* settleContradictions(
  tx: Tx,
  memory: MemoryStep,
  run: ConsolidationRun,
  incoming: FactRecord,
  contrary: readonly ContraryFact[],
): Op<{ fact: FactRecord; settlements: Settlement[] }> {
  const since = yield* asOldAsFound(tx, incoming)
  const aged: FactRecord[] = []
  for (const { fact } of contrary) aged.push(yield* asOldAsFound(tx, fact))
  const resolutions = yield* together(aged, (existing) => memory.settle(since, existing))
  const judged = contrary.map((each, at) => ({ ...each, resolution: resolutions[at] as Resolution }))
  // If it is superseded by one of them, it settles nothing with the others.
  const winner = judged.find(({ resolution }) => resolution === 'existing')
  let fact = incoming
  const settlements: Settlement[] = []
  for (const { fact: existing, likeness, ground, resolution } of winner === undefined ? judged : [winner]) {
    const why = { similarity: likeness, note: noteOf(memory, ground) }
    if (resolution === 'keep-both') {
      // If both are already flagged, the record may be omitted.
      if (existing.disputed && fact.disputed && settlements.length >= maxNamed) continue
      fact = yield* disputeFact(tx, memory, fact)
      yield* disputeFact(tx, memory, existing)
      run.decide('contradicted', fact.id, { otherId: existing.id, ...why })
    } else if (resolution === 'incoming') {
      yield* supersedeFact(tx, memory, existing, fact.id)
      run.decide('settled', existing.id, { otherId: fact.id, ...why })
    } else {
      fact = yield* supersedeFact(tx, memory, fact, existing.id)
      run.decide('settled', fact.id, { otherId: existing.id, ...why })
    }
    settlements.push({ existing, ground, resolution })
  }
  return { fact, settlements }
}

/** A copy has the age of its origin, because the time of the merge does not matter. */
function* asOldAsFound(tx: Tx, fact: FactRecord): Op<FactRecord> {
  let { originId, createdAt } = fact
  while (originId !== null) {
    const origin: FactRecord | undefined = yield* tx.fact.get(originId)
    if (origin === undefined) break
    ;({ originId, createdAt } = origin)
  }
  return { ...fact, createdAt }
}

/** The note in the history: policy and ground. */
function noteOf({ settings: { onContradiction } }: MemoryStep, ground: Ground): string {
  return `${typeof onContradiction === 'function' ? 'judge' : onContradiction}: ${ground}`
}

/** The ground in such a note. */
export function groundIn(note: string | null): Ground {
  return note?.split(': ').at(-1) as Ground
}
