// The second level: what an agent's sessions found, on its branch, becomes one fact where it is the same, and is summed up. Facts that
// were compared under the measure in force are not compared again, so a second run changes nothing (conformance S2-073…S2-079).
import { firstConfidence, summaryCategory } from '../entities/confidence.ts'
import type { BranchRecord, FactRecord } from '../entities/memory.ts'
import { joinedSources } from '../entities/source.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { survivorOf } from '../machines/fact-groups.ts'
import { requireOpenBranch } from '../steps/branch.ts'
import { type ContraryFact, compare, settleContradictions } from './compare.ts'
import { type Consolidated, ConsolidationRun } from './consolidation-run.ts'
import type { Deliberation } from './deliberate.ts'
import { confirmFact, disputeFact, insertFact, markFact, supersedeFact } from './fact-writes.ts'
import { type AlikePair, groupAlike, pairKey } from './group-facts.ts'
import { counted, keyFindings } from './summary-text.ts'

export interface AgentRequest {
  branch: string
  agentId: string
  taskId: string | null
  trigger: string
}

/** Facts that one run compares; what is left over is for the next. */
const maxConcurrent = 1_000_000

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
  const uncompared = yield* tx.fact.uncompared(branch, measure, maxConcurrent)
  const { facts, pairs, contrary, against } = yield* pairsOf(tx, d, branch, uncompared)
  const gone = yield* settleAll(tx, d, run, { facts, against, uncompared })
  const left = [...facts.values()].filter(({ id }) => !gone.has(id))
  const ids = left.sort((a, b) => a.seq - b.seq).map(({ id }) => id)
  const factOf = (id: string): FactRecord => facts.get(id) as FactRecord
  const clashes = (a: string, b: string): boolean =>
    contrary.has(pairKey(a, b)) || (areDisputed(factOf(a), factOf(b)) && d.contradicts(factOf(a), factOf(b)) !== null)
  const open = pairs.filter(({ a, b }) => !gone.has(a) && !gone.has(b))
  for (const group of groupAlike(ids, open, clashes)) {
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
  /** The same by the fact that was compared. */
  against: Map<string, ContraryFact[]>
}

function* pairsOf(tx: Tx, d: Deliberation, branch: string, uncompared: readonly FactRecord[]): Op<Pairs> {
  const facts = new Map(uncompared.map((fact) => [fact.id, fact]))
  const pairs: AlikePair[] = []
  const contrary = new Set<string>()
  const against = new Map<string, ContraryFact[]>()
  for (const fact of uncompared) {
    const found = yield* compare(tx, d, branch, fact)
    for (const { fact: other, likeness } of [...found.alike, ...found.lesser]) {
      facts.set(other.id, facts.get(other.id) ?? other)
      pairs.push({ a: fact.id, b: other.id, likeness })
    }
    for (const { fact: other } of found.contrary) contrary.add(pairKey(fact.id, other.id))
    against.set(fact.id, found.contrary)
  }
  return { facts, pairs, contrary, against }
}

/**
 * Facts that were stated, and not observed, meet those that they contradict only here. Returns who has given way; what is flagged
 * stands so in `facts` from then on.
 */
function* settleAll(
  tx: Tx,
  d: Deliberation,
  run: ConsolidationRun,
  { facts, against, uncompared }: Pick<Pairs, 'facts' | 'against'> & { uncompared: readonly FactRecord[] },
): Op<Set<string>> {
  const gone = new Set<string>()
  const waiting = new Set(uncompared.map(({ id }) => id))
  for (const { id } of uncompared) {
    waiting.delete(id)
    const fact = facts.get(id) as FactRecord
    const others = (against.get(id) ?? []).map((each) => ({ ...each, fact: facts.get(each.fact.id) ?? each.fact }))
    // Each pair once: when the later of the two has its turn.
    const open = others.filter((each) => !gone.has(each.fact.id) && !waiting.has(each.fact.id))
    const unsettled = open.filter((each) => !areDisputed(fact, each.fact))
    if (gone.has(id) || unsettled.length === 0) continue
    const { settlements, fact: settled } = yield* settleContradictions(tx, d, run, fact, unsettled)
    for (const changed of [settled.id, ...settlements.map(({ there }) => there.id)]) {
      const now = (yield* tx.fact.get(changed)) as FactRecord
      facts.set(changed, now)
      if (now.status === 'superseded') gone.add(changed)
    }
  }
  return gone
}

/** Two that were there before and contradict each other have been flagged when the later one came. */
function areDisputed(a: FactRecord, b: FactRecord): boolean {
  return a.disputed && b.disputed
}

/**
 * The survivor takes the place of all (conformance S2-075) that it may take the place of; its confidence stays (S2-079). What is left
 * has a survivor of its own. Returns who is gone.
 */
function* collapse(
  tx: Tx,
  d: Deliberation,
  run: ConsolidationRun,
  group: readonly FactRecord[],
  facts: Map<string, FactRecord>,
): Op<string[]> {
  const gone: string[] = []
  for (let left = group; left.length > 1; ) {
    const survivor = survivorOf(left, (a, b) => d.saysLess(a.text, b.text))
    const others = left.filter(({ id }) => id !== survivor.id)
    const losers = new Set(others.filter((fact) => d.mayReplace(survivor, fact)))
    for (const loser of losers) {
      yield* supersedeFact(tx, d, loser, survivor.id)
      run.decide('superseded', loser.id, { otherId: survivor.id, similarity: d.likeness(loser.text, survivor.text) })
      run.counts.factsDeduplicated++
      gone.push(loser.id)
    }
    facts.set(survivor.id, yield* standFor(tx, d, survivor, [...losers]))
    left = others.filter((fact) => !losers.has(fact))
  }
  return gone
}

/** What it takes the place of leaves it its sources, where they stated no less, and its disputes. */
function* standFor(tx: Tx, d: Deliberation, fact: FactRecord, losers: readonly FactRecord[]): Op<FactRecord> {
  const same = losers.filter(({ text }) => !d.saysLess(text, fact.text))
  const statedBy = joinedSources(same.map((loser) => loser.statedBy))
  const confirmed = yield* confirmFact(tx, d, fact, fact.confidence, statedBy)
  return losers.some(({ disputed }) => disputed) ? yield* disputeFact(tx, d, confirmed) : confirmed
}

/**
 * The fact that sums up what an agent found: how many facts, and which are the surest. One per agent and branch, written anew only when
 * it says something else (conformance S2-076). Returns its text, or null for an agent without facts.
 */
export function* refreshSummary(
  tx: Tx,
  d: Deliberation,
  run: ConsolidationRun,
  branch: BranchRecord,
  agentId: string,
): Op<string | null> {
  const all = yield* everyRow((after, limit) => tx.fact.active(branch.name, after, limit))
  // On a branch of its own all facts are the agent's; on one that it shares, those that it found.
  const facts = branch.agentId === agentId ? all : all.filter((fact) => fact.agentId === agentId)
  const known = yield* tx.fact.summaryOf(branch.name, agentId)
  if (facts.length === 0) return known?.text ?? null
  const text = summaryOf(agentId, facts)
  if (known?.text === text) return text
  const summary = yield* insertFact(tx, d, {
    branch: branch.name,
    text,
    category: summaryCategory,
    confidence: firstConfidence,
    statedBy: joinedSources(facts.map((fact) => fact.statedBy)),
    sessionId: null,
    taskId: branch.taskId,
    agentId,
  })
  run.decide('summarized', summary.id, { otherId: known?.id ?? null })
  if (known !== undefined) yield* supersedeFact(tx, d, known, summary.id)
  return text
}

function summaryOf(agentId: string, facts: readonly FactRecord[]): string {
  return `${agentId} found ${counted(facts.length, 'fact')}. Key findings: ${keyFindings(facts)}.`
}
