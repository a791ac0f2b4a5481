// One run of consolidation: collects counts and decisions and writes them to the history when it ends, the run before its decisions.
// Every run is recorded, including one that found nothing to do.
import { z } from 'zod'
import type { ConsolidationRecord, DecisionKind, DecisionRecord, ObservationRecord } from '../entities/memory.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { MemoryStep } from './memory-step.ts'

/** The counts of a run. Summaries of agents are not counted. */
export const countsShape = {
  observationsProcessed: z.int().min(0),
  factsCreated: z.int().min(0),
  /** Facts whose confidence rose, or whose verdict changed. */
  factsUpdated: z.int().min(0),
  /** Duplicates: observations of facts with full confidence, and superseded facts. */
  factsDeduplicated: z.int().min(0),
}
export type ConsolidationCounts = { [Count in keyof typeof countsShape]: number }

/** The outcome of one run. */
export interface Consolidated extends ConsolidationCounts {
  /** The run in the history. */
  historyId: string
}

/** The scope of a run. */
export type RunSubject = Pick<ConsolidationRecord, 'type' | 'sourceBranch' | 'targetBranch' | 'trigger'> &
  Partial<Pick<ConsolidationRecord, 'sessionId' | 'taskId' | 'agentId'>>

type Outcome = Partial<Pick<ConsolidationRecord, 'durable' | 'ephemeral' | 'merged' | 'rejected' | 'summary'>>
type Details = Partial<Omit<DecisionRecord, 'seq' | 'consolidationId' | 'kind' | 'factId'>>

const none: ConsolidationCounts = { observationsProcessed: 0, factsCreated: 0, factsUpdated: 0, factsDeduplicated: 0 }

export class ConsolidationRun {
  readonly id: string
  readonly counts: ConsolidationCounts = { ...none }
  readonly #subject: RunSubject
  readonly #at: number
  readonly #decisions: Array<Omit<DecisionRecord, 'seq'>> = []
  readonly #observations: string[] = []

  constructor(memory: MemoryStep, subject: RunSubject) {
    this.id = memory.nextId('cons')
    this.#subject = subject
    this.#at = memory.ctx.at
  }

  /** Marks an observation as consolidated by this run. */
  take({ id }: ObservationRecord): void {
    this.#observations.push(id)
    this.counts.observationsProcessed++
  }

  decide(kind: DecisionKind, factId: string, details: Details = {}): void {
    this.#decisions.push({
      consolidationId: this.id,
      kind,
      factId,
      otherId: null,
      observationId: null,
      similarity: null,
      before: null,
      after: null,
      note: null,
      ...details,
    })
  }

  *close(tx: Tx, outcome: Outcome = {}): Op<Consolidated> {
    yield* tx.consolidation.insert({
      id: this.id,
      sessionId: null,
      taskId: null,
      agentId: null,
      durable: null,
      ephemeral: null,
      merged: null,
      rejected: null,
      summary: null,
      ...this.#subject,
      ...this.counts,
      ...outcome,
      at: this.#at,
    })
    for (const decision of this.#decisions) yield* tx.consolidation.decide(decision)
    for (const id of this.#observations) yield* tx.observation.consume(id, this.id)
    return { ...this.counts, historyId: this.id }
  }
}

/** Adds up the counts of several runs. */
export function sumOf(runs: readonly ConsolidationCounts[]): ConsolidationCounts {
  const sum = { ...none }
  const names = Object.keys(sum) as Array<keyof ConsolidationCounts>
  for (const run of runs) for (const name of names) sum[name] += run[name]
  return sum
}
