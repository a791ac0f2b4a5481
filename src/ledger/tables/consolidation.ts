// The record of memory: runs of consolidation and what each decided. Rows are only ever added; triggers refuse everything else.
import type { ConsolidationRecord, ConsolidationType, DecisionKind, DecisionRecord } from '../../entities/memory.ts'
import type { Tx } from '../ledger.ts'
import type { ConsolidationTableRow, DecisionTableRow } from '../schema.ts'
import {
  change,
  holesFor,
  insertSeq,
  queryRows,
  returningSeq,
  row,
  rows,
  type StatementCompiler,
} from '../statement.ts'

type Row = Omit<ConsolidationTableRow, 'seq'> & { seq: number }
type DecisionRow = Omit<DecisionTableRow, 'seq'> & { seq: number }

const toRun = (stored: Row): ConsolidationRecord => ({
  seq: stored.seq,
  id: stored.id,
  type: stored.type as ConsolidationType,
  sourceBranch: stored.source_branch,
  targetBranch: stored.target_branch,
  sessionId: stored.session_id,
  agentId: stored.agent_id,
  taskId: stored.task_id,
  trigger: stored.trigger,
  observationsProcessed: stored.observations_processed,
  factsCreated: stored.facts_created,
  factsUpdated: stored.facts_updated,
  factsDeduplicated: stored.facts_deduplicated,
  durable: stored.durable,
  ephemeral: stored.ephemeral,
  merged: stored.merged,
  rejected: stored.rejected,
  summary: stored.summary,
  at: stored.at,
})

const toDecision = (stored: DecisionRow): DecisionRecord => ({
  seq: stored.seq,
  consolidationId: stored.consolidation_id,
  kind: stored.kind as DecisionKind,
  factId: stored.fact_id,
  otherId: stored.other_id,
  observationId: stored.observation_id,
  similarity: stored.similarity,
  before: stored.before,
  after: stored.after,
  note: stored.note,
})

const runNames = [
  'id',
  'type',
  'source_branch',
  'target_branch',
  'session_id',
  'agent_id',
  'task_id',
  'trigger',
  'observations_processed',
  'facts_created',
  'facts_updated',
  'facts_deduplicated',
  'durable',
  'ephemeral',
  'merged',
  'rejected',
  'summary',
  'at',
] as const // prettier-ignore

const decisionNames = [
  'consolidation_id',
  'kind',
  'fact_id',
  'other_id',
  'observation_id',
  'similarity',
  'before',
  'after',
  'note',
] as const // prettier-ignore

export function createConsolidationTable(compiler: StatementCompiler): Tx['consolidation'] {
  const { prepare, dialect } = compiler
  const selectOne = prepare((db, hole) => db.selectFrom('consolidation').selectAll().where('id', '=', hole('id')))
  const selectDecisionsOn = prepare((db, hole) =>
    db
      .selectFrom('decision')
      .selectAll()
      .where('fact_id', '=', hole('fact'))
      .orderBy('seq', 'desc')
      .limit(hole('limit')),
  )
  const selectDecisionsNaming = prepare((db, hole) =>
    db
      .selectFrom('decision')
      .selectAll()
      .where('other_id', '=', hole('fact'))
      .orderBy('seq', 'desc')
      .limit(hole('limit')),
  )
  const selectDecisions = prepare((db, hole) =>
    db
      .selectFrom('decision')
      .selectAll()
      .where('consolidation_id', '=', hole('consolidation'))
      .where('seq', '>', hole('after'))
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  const insertRun = prepare((db, hole) =>
    returningSeq(dialect)(db.insertInto('consolidation').values(holesFor(runNames, hole))),
  )
  const insertDecision = prepare((db, hole) => db.insertInto('decision').values(holesFor(decisionNames, hole)))

  return {
    *get(id) {
      const found = yield* row<Row>(selectOne, { id })
      return found && toRun(found)
    },
    *list(filter, limit, before) {
      const { branch } = filter
      let query = dialect.db.selectFrom('consolidation').selectAll().where('seq', '<', before)
      if (filter.type !== undefined) query = query.where('type', '=', filter.type)
      if (filter.taskId !== undefined) query = query.where('task_id', '=', filter.taskId)
      if (filter.agentId !== undefined) query = query.where('agent_id', '=', filter.agentId)
      if (filter.sessionId !== undefined) query = query.where('session_id', '=', filter.sessionId)
      if (branch !== undefined) {
        query = query.where((where) =>
          where.or([where('source_branch', '=', branch), where('target_branch', '=', branch)]),
        )
      }
      return (yield* queryRows<Row>(query.orderBy('seq', 'desc').limit(limit).compile())).map(toRun)
    },
    *decisionsOn(fact, limit) {
      return (yield* rows<DecisionRow>(selectDecisionsOn, { fact, limit })).map(toDecision)
    },
    *decisionsNaming(fact, limit) {
      return (yield* rows<DecisionRow>(selectDecisionsNaming, { fact, limit })).map(toDecision)
    },
    *decisions(consolidation, limit, after) {
      return (yield* rows<DecisionRow>(selectDecisions, { consolidation, limit, after })).map(toDecision)
    },
    *insert(run) {
      return yield* insertSeq(insertRun, {
        id: run.id,
        type: run.type,
        source_branch: run.sourceBranch,
        target_branch: run.targetBranch,
        session_id: run.sessionId,
        agent_id: run.agentId,
        task_id: run.taskId,
        trigger: run.trigger,
        observations_processed: run.observationsProcessed,
        facts_created: run.factsCreated,
        facts_updated: run.factsUpdated,
        facts_deduplicated: run.factsDeduplicated,
        durable: run.durable,
        ephemeral: run.ephemeral,
        merged: run.merged,
        rejected: run.rejected,
        summary: run.summary,
        at: run.at,
      })
    },
    *decide(decision) {
      yield* change(insertDecision, {
        consolidation_id: decision.consolidationId,
        kind: decision.kind,
        fact_id: decision.factId,
        other_id: decision.otherId,
        observation_id: decision.observationId,
        similarity: decision.similarity,
        before: decision.before,
        after: decision.after,
        note: decision.note,
      })
    },
  }
}
