// The third level: which facts of a task's branch outlast the task. Confirmed facts with enough confidence and a lasting category are
// durable, all others ephemeral; the verdict is stored with the fact.
import { counted } from '../core/counted.ts'
import type { DurableRule } from '../entities/confidence.ts'
import type { FactRecord } from '../entities/memory.ts'
import { lasts } from '../entities/source.ts'
import type { TeamRecord } from '../entities/team.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { consolidatePending } from './consolidate-session.ts'
import { type Consolidated, ConsolidationRun, sumOf } from './consolidation-run.ts'
import { markFact } from './fact-writes.ts'
import { durableRuleOf } from './memory-settings.ts'
import type { MemoryStep } from './memory-step.ts'
import { keyFindings } from './summary-text.ts'

export interface CheckpointRequest {
  team: TeamRecord
  taskId: string
  trigger: string
}

export interface Checkpoint extends Consolidated {
  /** Ids of the durable facts, oldest first. */
  durable: string[]
  /** Number of the other facts. */
  ephemeral: number
  summary: string
}

/** First consolidates the observations of the branch, in runs of their own, which are included in the returned counts. */
export function* checkpointTask(
  tx: Tx,
  memory: MemoryStep,
  { team, taskId, trigger }: CheckpointRequest,
): Op<Checkpoint> {
  const sessions = yield* consolidatePending(tx, memory, { branch: team.branch, trigger })
  const run = new ConsolidationRun(memory, {
    type: 'task_checkpoint',
    sourceBranch: team.branch,
    targetBranch: team.parentBranch,
    taskId,
    trigger,
  })
  const rule = durableRuleOf(memory.settings, team)
  const facts = yield* everyRow((after, limit) => tx.fact.active(team.branch, after, limit))
  for (const fact of facts) yield* judge(tx, memory, run, fact, rule)
  const durable = facts.filter((fact) => lasts(fact, rule))
  const ephemeral = facts.length - durable.length
  const summary = summaryOf(team.branch, durable, ephemeral)
  const { historyId, ...own } = yield* run.close(tx, { durable: durable.length, ephemeral, summary })
  return { ...sumOf([sessions, own]), historyId, durable: durable.map(({ id }) => id), ephemeral, summary }
}

function* judge(tx: Tx, memory: MemoryStep, run: ConsolidationRun, fact: FactRecord, rule: DurableRule): Op<void> {
  const verdict = lasts(fact, rule) ? 'durable' : 'ephemeral'
  if (fact.verdict === verdict) return
  yield* markFact(tx, memory, fact, { verdict })
  run.decide('judged', fact.id, { note: verdict })
  run.counts.factsUpdated++
}

function summaryOf(branch: string, durable: readonly FactRecord[], ephemeral: number): string {
  const counts = `${durable.length} durable and ${counted(ephemeral, 'ephemeral fact')} on ${branch}.`
  return durable.length === 0 ? counts : `${counts} Durable: ${keyFindings(durable)}.`
}
