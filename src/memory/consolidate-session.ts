// The first level: observations of one session on one branch become facts. A first observation becomes a fact with confidence 0.7; a
// further one raises the confidence. Each observation is consumed once, so a second run finds nothing.
import { boosted, firstConfidence } from '../entities/confidence.ts'
import { inferCategory } from '../entities/fact-category.ts'
import type { MemorableType, ObservationRecord } from '../entities/memory.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { requireOpenBranch } from './branches.ts'
import { type AlikeFact, type Comparison, compare, comparedWith, settleContradictions } from './compare.ts'
import { type Consolidated, type ConsolidationCounts, ConsolidationRun, sumOf } from './consolidation-run.ts'
import { confirmFact, insertFact } from './fact-writes.ts'
import type { FactLike, MemoryStep } from './memory-step.ts'

export interface SessionRequest {
  sessionId: string
  branch: string
  /** For the history; null: those of the branch. */
  taskId: string | null
  agentId: string | null
  trigger: string
}

/** The rest is left to the next run. */
const maxObservationsPerRun = 100_000

/** @throws ErrandError NOT_FOUND, BRANCH_CLOSED */
export function* consolidateSession(
  tx: Tx,
  memory: MemoryStep,
  { sessionId, branch, taskId, agentId, trigger }: SessionRequest,
): Op<Consolidated> {
  const on = yield* requireOpenBranch(tx, branch)
  const run = new ConsolidationRun(memory, {
    type: 'session_end',
    sourceBranch: branch,
    targetBranch: branch,
    sessionId,
    taskId: taskId ?? on.taskId,
    agentId: agentId ?? on.agentId,
    trigger,
  })
  const pending = yield* tx.observation.pending(branch, sessionId, maxObservationsPerRun)
  if (pending.length > 0)
    yield* memory.prepare(
      tx,
      branch,
      pending.map(({ content }) => content),
    )
  for (const observation of pending) {
    yield* consumeObservation(tx, memory, run, observation)
  }
  return yield* run.close(tx)
}

function* consumeObservation(
  tx: Tx,
  memory: MemoryStep,
  run: ConsolidationRun,
  observation: ObservationRecord,
): Op<void> {
  const stated = factOf(memory, observation)
  const comparison = yield* compare(tx, memory, observation.branch, stated)
  const [best] = comparison.alike
  if (best === undefined) yield* createFact(tx, memory, run, observation, stated, comparison)
  else yield* confirm(tx, memory, run, observation, best)
  run.take(observation)
}

/** The observation as a fact. */
function factOf({ ctx, settings }: MemoryStep, observation: ObservationRecord): FactLike {
  const { branch, content: text, type, sessionId, taskId, agentId, statedBy } = observation
  return {
    branch,
    text,
    category: inferCategory(type as MemorableType, text, settings.categoryRules),
    confidence: firstConfidence,
    statedBy: [statedBy],
    sessionId,
    taskId,
    agentId,
    createdAt: ctx.at,
  }
}

function* confirm(
  tx: Tx,
  memory: MemoryStep,
  run: ConsolidationRun,
  { id: observationId, statedBy }: ObservationRecord,
  { fact, likeness }: AlikeFact,
): Op<void> {
  const before = fact.confidence
  const { confidence: after } = yield* confirmFact(tx, memory, fact, boosted(before), [statedBy])
  if (after === before) {
    run.decide('confirmed', fact.id, { observationId, similarity: likeness })
    run.counts.factsDeduplicated++
  } else {
    run.decide('boosted', fact.id, { observationId, similarity: likeness, before, after })
    run.counts.factsUpdated++
  }
}

function* createFact(
  tx: Tx,
  memory: MemoryStep,
  run: ConsolidationRun,
  { id: observationId }: ObservationRecord,
  { createdAt: _createdAt, ...stated }: FactLike,
  { lesser, contrary }: Comparison,
): Op<void> {
  const comparedBy = yield* comparedWith(memory, stated.text, lesser)
  const fact = yield* insertFact(tx, memory, { ...stated, observationId, comparedBy })
  run.decide('created', fact.id, { observationId, after: fact.confidence, note: fact.category })
  run.counts.factsCreated++
  yield* settleContradictions(tx, memory, run, fact, contrary)
}

/** Consolidates every session with pending observations on the branch, each in a run of its own. @throws ErrandError NOT_FOUND, BRANCH_CLOSED */
export function* consolidatePending(
  tx: Tx,
  memory: MemoryStep,
  { branch, trigger }: Pick<SessionRequest, 'branch' | 'trigger'>,
): Op<ConsolidationCounts> {
  const runs: Consolidated[] = []
  for (const sessionId of yield* tx.observation.pendingSessions(branch)) {
    let run: Consolidated
    do {
      run = yield* consolidateSession(tx, memory, { sessionId, branch, taskId: null, agentId: null, trigger })
      runs.push(run)
    } while (run.observationsProcessed === maxObservationsPerRun)
  }
  return sumOf(runs)
}
