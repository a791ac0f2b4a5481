// The second level: duplicate facts of an agent's sessions, on its branch, are merged and summarized. Facts that were compared under the
// current measure are not compared again, so a second run changes nothing.
import { counted } from '../core/counted.ts'
import { firstConfidence, summaryCategory } from '../entities/confidence.ts'
import type { BranchRecord, FactRecord } from '../entities/memory.ts'
import { joinedSources } from '../entities/source.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { requireOpenBranch } from './branches.ts'
import { type ContraryFact, compare, settleContradictions } from './compare.ts'
import { type Consolidated, ConsolidationRun } from './consolidation-run.ts'
import { confirmFact, disputeFact, insertFact, markFact, supersedeFact } from './fact-writes.ts'
import { type AlikePair, type Covered, groupAlike, pairKey, splitBySurvivor } from './group-facts.ts'
import type { MemoryStep } from './memory-step.ts'
import { keyFindings } from './summary-text.ts'

export interface AgentRequest {
  branch: string
  agentId: string
  taskId: string | null
  trigger: string
}

/** The rest is left to the next run. */
const maxFactsPerRun = 1_000_000

/** `summary` is null for an agent without facts. @throws ErrandError NOT_FOUND, BRANCH_CLOSED */
export function* consolidateAgent(
  tx: Tx,
  memory: MemoryStep,
  { branch, agentId, taskId, trigger }: AgentRequest,
): Op<Consolidated & { summary: string | null }> {
  const on = yield* requireOpenBranch(tx, branch)
  const run = new ConsolidationRun(memory, {
    type: 'agent_complete',
    sourceBranch: branch,
    targetBranch: on.parent ?? branch,
    taskId: taskId ?? on.taskId,
    agentId,
    trigger,
  })
  yield* mergeDuplicates(tx, memory, run, branch)
  const summary = yield* refreshSummary(tx, memory, run, on, agentId)
  const consolidated = yield* run.close(tx, { summary: summary ?? `${agentId} has no facts on ${branch}.` })
  return { ...consolidated, summary }
}

/** Merges the duplicate facts of a branch. */
function* mergeDuplicates(tx: Tx, memory: MemoryStep, run: ConsolidationRun, branch: string): Op<void> {
  const [sample] = yield* tx.fact.active(branch, 0, 1)
  if (sample === undefined) return
  const measure = yield* memory.measure(sample.text)
  const uncompared = yield* tx.fact.uncompared(branch, measure, maxFactsPerRun)
  const { facts, pairs, contrary, against } = yield* pairsOf(tx, memory, branch, uncompared)
  const superseded = yield* settleAll(tx, memory, run, { facts, against, uncompared })
  const left = [...facts.values()].filter(({ id }) => !superseded.has(id))
  const ids = left.sort((a, b) => a.seq - b.seq).map(({ id }) => id)
  const factOf = (id: string): FactRecord => facts.get(id) as FactRecord
  function* clashes(a: string, b: string): Op<boolean> {
    if (contrary.has(pairKey(a, b))) return true
    return areDisputed(factOf(a), factOf(b)) && (yield* memory.contradicts(factOf(a), factOf(b))) !== null
  }
  const open = pairs.filter(({ a, b }) => !superseded.has(a) && !superseded.has(b))
  const rules = {
    saysLess: (a: FactRecord, b: FactRecord) => memory.saysLess(a.text, b.text),
    covers: (a: FactRecord, b: FactRecord) => memory.mayReplace(a, b),
  }
  for (const group of yield* groupAlike(ids, open, clashes)) {
    for (const each of splitBySurvivor(group.map(factOf), open, rules)) {
      facts.set(each.survivor.id, yield* supersedeCovered(tx, memory, run, each))
      for (const { id } of each.covered) superseded.add(id)
    }
  }
  for (const { id } of uncompared)
    if (!superseded.has(id)) yield* markFact(tx, memory, factOf(id), { comparedBy: measure })
}

interface Pairs {
  /** All facts that are in a pair, or have not been compared. */
  facts: Map<string, FactRecord>
  pairs: AlikePair[]
  /** Keys of contradicting pairs. */
  contrary: Set<string>
  /** The same contradictions, by the compared fact. */
  against: Map<string, ContraryFact[]>
}

function* pairsOf(tx: Tx, memory: MemoryStep, branch: string, uncompared: readonly FactRecord[]): Op<Pairs> {
  const facts = new Map(uncompared.map((fact) => [fact.id, fact]))
  const pairs: AlikePair[] = []
  const contrary = new Set<string>()
  const against = new Map<string, ContraryFact[]>()
  for (const fact of uncompared) {
    const found = yield* compare(tx, memory, branch, fact)
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
 * Settles contradictions of facts that were stated directly, which were not compared before. Returns the ids of superseded facts;
 * updates `facts` with disputed ones.
 */
function* settleAll(
  tx: Tx,
  memory: MemoryStep,
  run: ConsolidationRun,
  { facts, against, uncompared }: Pick<Pairs, 'facts' | 'against'> & { uncompared: readonly FactRecord[] },
): Op<Set<string>> {
  const superseded = new Set<string>()
  const waiting = new Set(uncompared.map(({ id }) => id))
  for (const { id } of uncompared) {
    waiting.delete(id)
    const fact = facts.get(id) as FactRecord
    const others = (against.get(id) ?? []).map((each) => ({ ...each, fact: facts.get(each.fact.id) ?? each.fact }))
    // Each pair once, at the later of the two.
    const open = others.filter((each) => !superseded.has(each.fact.id) && !waiting.has(each.fact.id))
    const unsettled = open.filter((each) => !areDisputed(fact, each.fact))
    if (superseded.has(id) || unsettled.length === 0) continue
    const { settlements, fact: settled } = yield* settleContradictions(tx, memory, run, fact, unsettled)
    for (const changed of [settled.id, ...settlements.map(({ existing }) => existing.id)]) {
      const now = (yield* tx.fact.get(changed)) as FactRecord
      facts.set(changed, now)
      if (now.status === 'superseded') superseded.add(changed)
    }
  }
  return superseded
}

/** Facts that contradicted each other before were flagged when the later one arrived. */
function areDisputed(a: FactRecord, b: FactRecord): boolean {
  return a.disputed && b.disputed
}

/** Supersedes facts by a survivor, whose confidence stays. Returns it as it is afterwards. */
function* supersedeCovered(
  tx: Tx,
  memory: MemoryStep,
  run: ConsolidationRun,
  { survivor, covered }: Covered,
): Op<FactRecord> {
  for (const loser of covered) {
    yield* supersedeFact(tx, memory, loser, survivor.id)
    const similarity = yield* memory.likeness(loser.text, survivor.text)
    run.decide('superseded', loser.id, { otherId: survivor.id, similarity })
    run.counts.factsDeduplicated++
  }
  return yield* inheritSources(tx, memory, survivor, covered)
}

/** The survivor inherits the sources of superseded facts that said no less, and their disputes. */
function* inheritSources(tx: Tx, memory: MemoryStep, fact: FactRecord, losers: readonly FactRecord[]): Op<FactRecord> {
  const same = losers.filter(({ text }) => !memory.saysLess(text, fact.text))
  const statedBy = joinedSources(same.map((loser) => loser.statedBy))
  const confirmed = yield* confirmFact(tx, memory, fact, fact.confidence, statedBy)
  return losers.some(({ disputed }) => disputed) ? yield* disputeFact(tx, memory, confirmed) : confirmed
}

/**
 * Updates the summary of an agent's facts: their number and those with the highest confidence. There is one per agent and branch,
 * rewritten only if its text changes. Returns its text, or null for an agent without facts.
 */
function* refreshSummary(
  tx: Tx,
  memory: MemoryStep,
  run: ConsolidationRun,
  branch: BranchRecord,
  agentId: string,
): Op<string | null> {
  const all = yield* everyRow((after, limit) => tx.fact.active(branch.name, after, limit))
  // On its own branch all facts are the agent's; on a shared one, those that it found.
  const facts = branch.agentId === agentId ? all : all.filter((fact) => fact.agentId === agentId)
  const known = yield* tx.fact.summaryOf(branch.name, agentId)
  if (facts.length === 0) return known?.text ?? null
  const text = summaryOf(agentId, facts)
  if (known?.text === text) return text
  const summary = yield* insertFact(tx, memory, {
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
  if (known !== undefined) yield* supersedeFact(tx, memory, known, summary.id)
  return text
}

function summaryOf(agentId: string, facts: readonly FactRecord[]): string {
  return `${agentId} found ${counted(facts.length, 'fact')}. Key findings: ${keyFindings(facts)}.`
}
