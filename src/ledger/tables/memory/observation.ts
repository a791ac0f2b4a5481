// The observation table. A row changes once, when a run of consolidation consumes it.

import type { Tx } from '../../ledger.ts'
import { change, column, numberOf, type StatementCompiler, sql, write } from '../../statement.ts'
import { defineTable, json, plain, serial, statementsOf } from '../../table-mapping.ts'

export const observations = defineTable('observation', {
  seq: serial,
  id: plain,
  sessionId: plain,
  branch: plain,
  type: plain,
  content: plain,
  outcome: plain,
  taskId: plain,
  agentId: plain,
  statedBy: json,
  createdAt: plain,
  consolidatedBy: plain,
})

/** The condition of the partial indexes, verbatim, because the planner uses them only then. */
const isPending = sql<boolean>`consolidated_by is null and type in ('insight', 'decision', 'discovery')`

export function createObservationTable(compiler: StatementCompiler): Tx['observation'] {
  const { prepare, dialect } = compiler
  const { select, finds } = statementsOf(compiler, observations, { reads: 'pending' })
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
  /** The values of one column in the pending rows that have a value in the other, in the order of the first row of each. */
  const pendingBy = (field: 'session_id' | 'branch', given: 'session_id' | 'branch') =>
    prepare('pending', (db, hole) =>
      db
        .selectFrom('observation')
        .select(field)
        .where(isPending)
        .where(given, '=', hole('given'))
        .groupBy(field)
        .orderBy((query) => query.fn.min('seq'), 'asc'),
    )
  const selectSessions = pendingBy('session_id', 'branch')
  const selectBranches = pendingBy('branch', 'session_id')
  // Without those of other groups: the next one counts them.
  const countPending = prepare('unshared', (db, hole) =>
    db
      .selectFrom('observation')
      .select((query) => query.fn.countAll<number>().as('pending'))
      .where(isPending)
      .where('session_id', '=', hole('session'))
      .where('branch', '=', hole('branch')),
  )
  const insertObservation = prepare('unshared', (db, hole) =>
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
    get: finds('id'),
    pending: (branch, session, limit) =>
      observations.list(session === null ? selectPending : selectPendingOf, { branch, session, limit }),
    pendingSessions: (branch) => column(selectSessions, { given: branch }),
    pendingBranches: (session) => column(selectBranches, { given: session }),
    countPending: (branch, session) => numberOf(countPending, { branch, session }),
    *list({ types, branch, sessionId, taskId, agentId }, limit, before) {
      // PostgreSQL has no empty list.
      if (types?.length === 0) return []
      let query = observations.from(dialect.db, { branch, sessionId, taskId, agentId }).where('seq', '<', before)
      if (types !== undefined) query = query.where('type', 'in', types)
      return yield* observations.query(query.orderBy('seq', 'desc').limit(limit))
    },
    *insert(observation) {
      return (yield* change(insertObservation, observation)) > 0
    },
    consume: (id, consolidation) => write(updateConsumed, { id, consolidation }),
  }
}
