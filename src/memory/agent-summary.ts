// The fact that sums up what an agent found: how many facts, and which are the surest. One per agent and branch, written anew only when
// it says something else (conformance S2-076).
import { firstConfidence, summaryCategory } from '../entities/confidence.ts'
import type { BranchRecord, FactRecord } from '../entities/memory.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { ConsolidationRun } from './consolidation-run.ts'
import type { Deliberation } from './deliberate.ts'
import { insertFact, supersedeFact } from './fact-writes.ts'
import { shortened } from './shortened.ts'

const keyFindings = 5
const longestFinding = 200
const allFacts = 1_000_000

/** The text of the summary, or null for an agent without facts. */
export function* refreshSummary(
  tx: Tx,
  d: Deliberation,
  run: ConsolidationRun,
  branch: BranchRecord,
  agentId: string,
): Op<string | null> {
  const all = yield* tx.fact.active(branch.name, 0, allFacts)
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
    sessionId: null,
    taskId: branch.taskId,
    agentId,
  })
  run.decide('summarized', summary.id, { otherId: known?.id ?? null })
  if (known !== undefined) yield* supersedeFact(tx, d, known, summary.id)
  return text
}

function summaryOf(agentId: string, facts: readonly FactRecord[]): string {
  const surest = facts.toSorted((a, b) => b.confidence - a.confidence || a.seq - b.seq).slice(0, keyFindings)
  const findings = surest.map(({ text }) => shortened(text, longestFinding).replace(/[.;\s]+$/, ''))
  const count = facts.length === 1 ? '1 fact' : `${facts.length} facts`
  return `${agentId} found ${count}. Key findings: ${findings.join('; ')}.`
}
