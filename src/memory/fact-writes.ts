// The only functions that write facts: insert, confirm, dispute, supersede. The text and branch of a fact never change.
import type { FactRecord } from '../entities/memory.ts'
import { addVoice, joinedSources, maxConfidence, type Source } from '../entities/source.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import type { MemoryHost } from './memory-host.ts'
import type { MemoryStep } from './memory-step.ts'

/** The fields of a new fact; it starts active, undisputed and unmerged. */
export type NewFact = Pick<
  FactRecord,
  'branch' | 'text' | 'category' | 'confidence' | 'statedBy' | 'sessionId' | 'taskId' | 'agentId'
> &
  Partial<Pick<FactRecord, 'observationId' | 'originId' | 'comparedBy'>>

/** The part of a step of memory that writing needs; other steps write without the rest. */
export type Writer = Pick<MemoryStep, 'ctx' | 'nextId'> & Partial<Pick<MemoryStep, 'written'>>

/** A writer for a step that compares nothing. */
export function writerAt(ctx: StepContext, host: Pick<MemoryHost, 'nextId'>): Writer {
  return { ctx, nextId: (prefix) => host.nextId(prefix) }
}

/** The confidence is limited by what its sources allow. */
export function* insertFact(tx: Tx, writer: Writer, given: NewFact): Op<FactRecord> {
  const fact: Omit<FactRecord, 'seq'> = {
    observationId: null,
    originId: null,
    comparedBy: null,
    ...given,
    confidence: Math.min(given.confidence, maxConfidence(given.statedBy)),
    id: writer.nextId('fact'),
    status: 'active',
    successorId: null,
    disputed: false,
    verdict: null,
    mergedTo: null,
    mergedConfidence: null,
    createdAt: writer.ctx.at,
    updatedAt: writer.ctx.at,
  }
  const stored = { ...fact, seq: yield* tx.fact.insert(fact) }
  if (writer.written !== undefined) yield* writer.written(tx, stored)
  return stored
}

/** Marks of a fact that do not change its age: whether it was compared, judged, carried. */
export type FactMarks = Partial<Pick<FactRecord, 'comparedBy' | 'verdict' | 'mergedTo' | 'mergedConfidence'>>

export function* markFact(tx: Tx, writer: Writer, fact: FactRecord, marks: FactMarks): Op<FactRecord> {
  return yield* saved(tx, writer, { ...fact, ...marks })
}

/**
 * Adds sources to a fact and raises its confidence to `confidence`, unless a model or a tool repeats itself; limited by what the sources
 * allow.
 */
export function* confirmFact(
  tx: Tx,
  writer: Writer,
  fact: FactRecord,
  confidence: number,
  by: readonly Source[],
): Op<FactRecord> {
  const statedBy = joinedSources([fact.statedBy, by])
  const reached = addVoice(fact.statedBy, by) ? Math.min(confidence, maxConfidence(statedBy)) : fact.confidence
  if (reached > fact.confidence) {
    return yield* saved(tx, writer, { ...fact, statedBy, confidence: reached, updatedAt: writer.ctx.at })
  }
  return statedBy.length === fact.statedBy.length ? fact : yield* saved(tx, writer, { ...fact, statedBy })
}

export function* disputeFact(tx: Tx, writer: Writer, fact: FactRecord): Op<FactRecord> {
  if (fact.disputed) return fact
  return yield* saved(tx, writer, { ...fact, disputed: true, updatedAt: writer.ctx.at })
}

export function* supersedeFact(tx: Tx, writer: Writer, fact: FactRecord, successorId: string): Op<FactRecord> {
  return yield* saved(tx, writer, { ...fact, status: 'superseded', successorId, updatedAt: writer.ctx.at })
}

function* saved(tx: Tx, writer: Writer, fact: FactRecord): Op<FactRecord> {
  yield* tx.fact.save(fact)
  if (writer.written !== undefined) yield* writer.written(tx, fact)
  return fact
}
