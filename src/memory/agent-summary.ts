// The fact that sums up what an agent found: how many facts, and which are the surest. One per agent and branch, written anew only when
// it says something else (conformance S2-076).
import { firstConfidence, summaryCategory } from '../entities/confidence.ts'
import type { BranchRecord, FactRecord } from '../entities/memory.ts'
import { everyRow } from '../ledger/every-row.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { ConsolidationRun } from './consolidation-run.ts'
import { counted } from './counted.ts'
import type { Deliberation } from './deliberate.ts'
import { insertFact, supersedeFact } from './fact-writes.ts'
import { keyFindings } from './key-findings.ts'

/** The text of the summary, or null for an agent without facts. */
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
