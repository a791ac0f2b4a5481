// The record of memory: runs of consolidation and the decisions of each. Rows are only added; triggers refuse all other changes.

import type { Tx } from '../../ledger.ts'
import { insertSeq, type StatementCompiler } from '../../statement.ts'
import { defineTable, plain, serial, statementsOf } from '../../table-mapping.ts'

const consolidations = defineTable('consolidation', {
  seq: serial,
  id: plain,
  type: plain,
  sourceBranch: plain,
  targetBranch: plain,
  sessionId: plain,
  agentId: plain,
  taskId: plain,
  trigger: plain,
  observationsProcessed: plain,
  factsCreated: plain,
  factsUpdated: plain,
  factsDeduplicated: plain,
  durable: plain,
  ephemeral: plain,
  merged: plain,
  rejected: plain,
  summary: plain,
  at: plain,
})

const decisions = defineTable('decision', {
  seq: serial,
  consolidationId: plain,
  kind: plain,
  factId: plain,
  otherId: plain,
  observationId: plain,
  similarity: plain,
  before: plain,
  after: plain,
  note: plain,
})

export function createConsolidationTable(compiler: StatementCompiler): Tx['consolidation'] {
  const { dialect } = compiler
  const ofRuns = statementsOf(compiler, consolidations)
  const { select, inserts } = statementsOf(compiler, decisions)
  const selectDecisionsOn = select((decision, hole) =>
    decision.where('fact_id', '=', hole('fact')).orderBy('seq', 'desc').limit(hole('limit')),
  )
  const selectDecisionsNaming = select((decision, hole) =>
    decision.where('other_id', '=', hole('fact')).orderBy('seq', 'desc').limit(hole('limit')),
  )
  const selectDecisions = select((decision, hole) =>
    decision
      .where('consolidation_id', '=', hole('consolidation'))
      .where('seq', '>', hole('after'))
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  const insertRun = ofRuns.insert('unshared')

  return {
    get: ofRuns.finds('id'),
    *list({ branch, type, taskId, agentId, sessionId }, limit, before) {
      let query = consolidations.from(dialect.db, { type, taskId, agentId, sessionId }).where('seq', '<', before)
      if (branch !== undefined) {
        query = query.where((where) =>
          where.or([where('source_branch', '=', branch), where('target_branch', '=', branch)]),
        )
      }
      return yield* consolidations.query(query.orderBy('seq', 'desc').limit(limit))
    },
    decisionsOn: (fact, limit) => decisions.list(selectDecisionsOn, { fact, limit }),
    decisionsNaming: (fact, limit) => decisions.list(selectDecisionsNaming, { fact, limit }),
    decisions: (consolidation, limit, after) => decisions.list(selectDecisions, { consolidation, limit, after }),
    insert: (run) => insertSeq(insertRun, run),
    decide: inserts(),
  }
}
