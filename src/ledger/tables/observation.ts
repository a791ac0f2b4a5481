// The observation table: what somebody saw, as it was said. A row changes once, when a run of consolidation takes it up.
import { defineTable, plain, serial, statementsOf } from '../columns.ts'
import type { Tx } from '../ledger.ts'
import { change, numberOf, rows, type StatementCompiler, sql, write } from '../statement.ts'

const observations = defineTable('observation', {
  seq: serial,
  id: plain,
  sessionId: plain,
  branch: plain,
  type: plain,
  content: plain,
  outcome: plain,
  taskId: plain,
  agentId: plain,
  createdAt: plain,
  consolidatedBy: plain,
})

/** The condition of the partial indexes, in their very words: only so does the planner see that they serve. */
const isPending = sql<boolean>`consolidated_by is null and type in ('insight', 'decision', 'discovery')`

export function createObservationTable(compiler: StatementCompiler): Tx['observation'] {
  const { prepare, dialect } = compiler
  const { select } = statementsOf(compiler, observations)
  const selectOne = select((observation, hole) => observation.where('id', '=', hole('id')))
  const selectPending = select((observation, hole) =>
    observation.where(isPending).where('branch', '=', hole('branch')).orderBy('seq', 'asc').limit(hole('limit')),
  )
  const selectPendingOf = select((observation, hole) =>
    observation
      .where(isPending)
      .where('session_id', '=', hole('session'))
      .where('branch', '=', hole('branch'))
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  const selectSessions = prepare((db, hole) =>
    db
      .selectFrom('observation')
      .select('session_id')
      .where(isPending)
      .where('branch', '=', hole('branch'))
      .groupBy('session_id')
      .orderBy((query) => query.fn.min('seq'), 'asc'),
  )
  const selectBranches = prepare((db, hole) =>
    db
      .selectFrom('observation')
      .select('branch')
      .where(isPending)
      .where('session_id', '=', hole('session'))
      .groupBy('branch')
      .orderBy((query) => query.fn.min('seq'), 'asc'),
  )
  const countPending = prepare((db, hole) =>
    db
      .selectFrom('observation')
      .select((query) => query.fn.countAll<number>().as('pending'))
      .where(isPending)
      .where('session_id', '=', hole('session'))
      .where('branch', '=', hole('branch')),
  )
  const insertObservation = prepare((db, hole) =>
    db
      .insertInto('observation')
      .values(observations.holes(hole))
      .onConflict((conflict) => conflict.column('id').doNothing()),
  )
  const updateConsumed = prepare((db, hole) =>
    db
      .updateTable('observation')
      .set({ consolidated_by: hole('consolidation') })
      .where('id', '=', hole('id'))
      .where('consolidated_by', 'is', null),
  )

  return {
    get: (id) => observations.one(selectOne, { id }),
    pending: (branch, session, limit) =>
      observations.list(session === null ? selectPending : selectPendingOf, { branch, session, limit }),
    *pendingSessions(branch) {
      return (yield* rows<{ session_id: string }>(selectSessions, { branch })).map((found) => found.session_id)
    },
    *pendingBranches(session) {
      return (yield* rows<{ branch: string }>(selectBranches, { session })).map((found) => found.branch)
    },
    countPending: (branch, session) => numberOf(countPending, { branch, session }),
    *list(filter, limit, before) {
      let query = observations.from(dialect.db).where('seq', '<', before)
      // PostgreSQL has no empty list.
      if (filter.types?.length === 0) return []
      if (filter.types !== undefined) query = query.where('type', 'in', filter.types)
      if (filter.branch !== undefined) query = query.where('branch', '=', filter.branch)
      if (filter.sessionId !== undefined) query = query.where('session_id', '=', filter.sessionId)
      if (filter.taskId !== undefined) query = query.where('task_id', '=', filter.taskId)
      if (filter.agentId !== undefined) query = query.where('agent_id', '=', filter.agentId)
      return yield* observations.query(query.orderBy('seq', 'desc').limit(limit))
    },
    *insert(observation) {
      return (yield* change(insertObservation, observation)) > 0
    },
    consume: (id, consolidation) => write(updateConsumed, { id, consolidation }),
  }
}
