// A fact that has come to a branch and contradicts others there: both stay and are flagged, or one gives way to the other. What was
// decided, by which policy and on which ground, stands in the history. A pair is decided once: when the later of the two arrives.
import type { FactRecord } from '../entities/memory.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { ContraryFact } from './compare.ts'
import type { ConsolidationRun } from './consolidation-run.ts'
import type { Deliberation, Ground } from './deliberate.ts'
import { disputeFact, supersedeFact } from './fact-writes.ts'

export interface Settlement {
  /** The fact that was there. */
  there: FactRecord
  ground: Ground
  resolution: 'keep-both' | 'incoming' | 'there'
}

/** So many of those that a fact is kept beside are named with it: of a value that is measured again and again there are thousands. */
const mostNamed = 20

/** Says what became of the incoming one. */
export function* settleContradictions(
  tx: Tx,
  d: Deliberation,
  run: ConsolidationRun,
  incoming: FactRecord,
  contrary: readonly ContraryFact[],
): Op<{ fact: FactRecord; settlements: Settlement[] }> {
  const since = yield* asOldAsFound(tx, incoming)
  const judged: Array<ContraryFact & { side: ReturnType<Deliberation['settle']> }> = []
  for (const each of contrary) judged.push({ ...each, side: d.settle(since, yield* asOldAsFound(tx, each.fact)) })
  // Where it gives way to one of them it settles nothing with the others.
  const winner = judged.find(({ side }) => side === 'older')
  let fact = incoming
  const settlements: Settlement[] = []
  for (const { fact: there, likeness, ground, side } of winner === undefined ? judged : [winner]) {
    const why = { similarity: likeness, note: `${policyName(d)}: ${ground}` }
    if (side === 'keep-both') {
      // One that is flagged already loses nothing by not being named once more.
      if (there.disputed && fact.disputed && settlements.length >= mostNamed) continue
      fact = yield* disputeFact(tx, d, fact)
      yield* disputeFact(tx, d, there)
      run.decide('contradicted', fact.id, { otherId: there.id, ...why })
      settlements.push({ there, ground, resolution: 'keep-both' })
    } else if (side === 'newer') {
      yield* supersedeFact(tx, d, there, fact.id)
      run.decide('settled', there.id, { otherId: fact.id, ...why })
      settlements.push({ there, ground, resolution: 'incoming' })
    } else {
      fact = yield* supersedeFact(tx, d, fact, there.id)
      run.decide('settled', fact.id, { otherId: there.id, ...why })
      settlements.push({ there, ground, resolution: 'there' })
    }
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

function policyName({ settings: { onContradiction } }: Deliberation): string {
  return typeof onContradiction === 'function' ? 'judge' : onContradiction
}
