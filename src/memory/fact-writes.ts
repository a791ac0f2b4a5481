// The only places where facts are written: a new one, one that is surer, one that gives way to another. What a fact says, and where,
// never changes.
import type { FactRecord } from '../entities/memory.ts'
import { addVoice, joinedSources, maxConfidence, type Source } from '../entities/source.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { StepContext } from '../steps/step-context.ts'
import type { Deliberation } from './deliberate.ts'
import type { MemoryHost } from './memory-host.ts'

/** What must be said of a new fact; it is active, undisputed, and has been carried nowhere. */
export type NewFact = Pick<
  FactRecord,
  'branch' | 'text' | 'category' | 'confidence' | 'statedBy' | 'sessionId' | 'taskId' | 'agentId'
> &
  Partial<Pick<FactRecord, 'observationId' | 'originId' | 'comparedBy'>>

/** What writing takes of a deliberation: whoever compares nothing writes without one. */
export type Writer = Pick<Deliberation, 'ctx' | 'nextId'> & Partial<Pick<Deliberation, 'written'>>

/** Of a step that compares nothing. */
export function writerAt(ctx: StepContext, host: Pick<MemoryHost, 'nextId'>): Writer {
  return { ctx, nextId: (prefix) => host.nextId(prefix) }
}

/** It is no surer than those who state it can make it. */
export function* insertFact(tx: Tx, d: Writer, given: NewFact): Op<FactRecord> {
  const fact: Omit<FactRecord, 'seq'> = {
    observationId: null,
    originId: null,
    comparedBy: null,
    ...given,
    confidence: Math.min(given.confidence, maxConfidence(given.statedBy)),
    id: d.nextId('fact'),
    status: 'active',
    successorId: null,
    disputed: false,
    verdict: null,
    mergedTo: null,
    mergedConfidence: null,
    createdAt: d.ctx.at,
    updatedAt: d.ctx.at,
  }
  const stored = { ...fact, seq: yield* tx.fact.insert(fact) }
  if (d.written !== undefined) yield* d.written(tx, stored)
  return stored
}

/** What is told of a fact, and not by it: whether it was compared, judged, carried. Its age stays. */
export type FactMarks = Partial<Pick<FactRecord, 'comparedBy' | 'verdict' | 'mergedTo' | 'mergedConfidence'>>

export function* markFact(tx: Tx, d: Writer, fact: FactRecord, marks: FactMarks): Op<FactRecord> {
  return yield* saved(tx, d, { ...fact, ...marks })
}

/**
 * Others state it too, which makes it as sure as `confidence`: unless a model or a tool repeats itself, and never beyond what those who
 * state it can make it.
 */
export function* confirmFact(
  tx: Tx,
  d: Writer,
  fact: FactRecord,
  confidence: number,
  by: readonly Source[],
): Op<FactRecord> {
  const statedBy = joinedSources([fact.statedBy, by])
  const reached = addVoice(fact.statedBy, by) ? Math.min(confidence, maxConfidence(statedBy)) : fact.confidence
  if (reached > fact.confidence) {
    return yield* saved(tx, d, { ...fact, statedBy, confidence: reached, updatedAt: d.ctx.at })
  }
  return statedBy.length === fact.statedBy.length ? fact : yield* saved(tx, d, { ...fact, statedBy })
}

export function* disputeFact(tx: Tx, d: Writer, fact: FactRecord): Op<FactRecord> {
  if (fact.disputed) return fact
  return yield* saved(tx, d, { ...fact, disputed: true, updatedAt: d.ctx.at })
}

export function* supersedeFact(tx: Tx, d: Writer, fact: FactRecord, successorId: string): Op<FactRecord> {
  return yield* saved(tx, d, { ...fact, status: 'superseded', successorId, updatedAt: d.ctx.at })
}

function* saved(tx: Tx, d: Writer, fact: FactRecord): Op<FactRecord> {
  yield* tx.fact.save(fact)
  if (d.written !== undefined) yield* d.written(tx, fact)
  return fact
}
