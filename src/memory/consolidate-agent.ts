// The second level: what an agent's sessions found, on its branch, becomes one fact where it is the same, and is summed up. Facts that
// were compared under the measure in force are not compared again, so a second run changes nothing (conformance S2-073…S2-079).
import type { FactRecord } from '../entities/memory.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { survivorOf } from '../machines/fact-groups.ts'
import { requireOpenBranch } from '../steps/branch.ts'
import { refreshSummary } from './agent-summary.ts'
import { compare } from './compare.ts'
import { type Consolidated, ConsolidationRun } from './consolidation-run.ts'
import type { Deliberation } from './deliberate.ts'
import { disputeFact, markFact, supersedeFact } from './fact-writes.ts'
import { type AlikePair, groupAlike, pairKey } from './group-facts.ts'

export interface AgentRequest {
  branch: string
  agentId: string
  taskId: string | null
  trigger: string
}

const allFacts = 1_000_000

/** `summary` is null for an agent without facts. @throws ErrandError NOT_FOUND, BRANCH_CLOSED */
export function* consolidateAgent(
  tx: Tx,
  d: Deliberation,
  { branch, agentId, taskId, trigger }: AgentRequest,
): Op<Consolidated & { summary: string | null }> {
  const on = yield* requireOpenBranch(tx, branch)
  const run = new ConsolidationRun(d, {
    type: 'agent_complete',
    sourceBranch: branch,
    targetBranch: on.parent ?? branch,
    taskId: taskId ?? on.taskId,
    agentId,
    trigger,
  })
  yield* unite(tx, d, run, branch)
  const summary = yield* refreshSummary(tx, d, run, on, agentId)
  const consolidated = yield* run.close(tx, { summary: summary ?? `${agentId} has no facts on ${branch}.` })
  return { ...consolidated, summary }
}

/** Facts of a branch that say the same become one. */
function* unite(tx: Tx, d: Deliberation, run: ConsolidationRun, branch: string): Op<void> {
  const [sample] = yield* tx.fact.active(branch, 0, 1)
  if (sample === undefined) return
  const measure = d.measure(sample.text)
  const uncompared = yield* tx.fact.uncompared(branch, measure, allFacts)
  const { facts, pairs, contrary } = yield* pairsOf(tx, d, branch, uncompared)
  const ids = [...facts.values()].sort((a, b) => a.seq - b.seq).map(({ id }) => id)
  const factOf = (id: string): FactRecord => facts.get(id) as FactRecord
  const clashes = (a: string, b: string): boolean =>
    contrary.has(pairKey(a, b)) || (areDisputed(factOf(a), factOf(b)) && d.contradicts(factOf(a), factOf(b)) !== null)
  const gone = new Set<string>()
  for (const group of groupAlike(ids, pairs, clashes)) {
    for (const id of yield* collapse(tx, d, run, group.map(factOf), facts)) gone.add(id)
  }
  for (const { id } of uncompared) if (!gone.has(id)) yield* markFact(tx, d, factOf(id), { comparedBy: measure })
}

interface Pairs {
  /** All that are in a pair, or have not been compared. */
  facts: Map<string, FactRecord>
  pairs: AlikePair[]
  /** Keys of pairs that contradict each other. */
  contrary: Set<string>
}

function* pairsOf(tx: Tx, d: Deliberation, branch: string, uncompared: readonly FactRecord[]): Op<Pairs> {
  const facts = new Map(uncompared.map((fact) => [fact.id, fact]))
  const pairs: AlikePair[] = []
  const contrary = new Set<string>()
  for (const fact of uncompared) {
    const found = yield* compare(tx, d, branch, fact)
    for (const { fact: other, likeness } of found.alike) {
      facts.set(other.id, facts.get(other.id) ?? other)
      pairs.push({ a: fact.id, b: other.id, likeness })
    }
    for (const { fact: other } of found.contrary) contrary.add(pairKey(fact.id, other.id))
  }
  return { facts, pairs, contrary }
}

/** Two that were there before and contradict each other have been flagged when the later one came. */
function areDisputed(a: FactRecord, b: FactRecord): boolean {
  return a.disputed && b.disputed
}

/** The survivor takes the place of all (conformance S2-075); its confidence stays (S2-079). Returns who is gone. */
function* collapse(
  tx: Tx,
  d: Deliberation,
  run: ConsolidationRun,
  group: readonly FactRecord[],
  facts: Map<string, FactRecord>,
): Op<string[]> {
  const survivor = survivorOf(group)
  const losers = group.filter(({ id }) => id !== survivor.id)
  for (const loser of losers) {
    yield* supersedeFact(tx, d, loser, survivor.id)
    run.decide('superseded', loser.id, { otherId: survivor.id, similarity: d.likeness(loser.text, survivor.text) })
    run.factsDeduplicated++
  }
  if (losers.some(({ disputed }) => disputed)) facts.set(survivor.id, yield* disputeFact(tx, d, survivor))
  return losers.map(({ id }) => id)
}
