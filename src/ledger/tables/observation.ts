// The observation table: what somebody saw, as it was said. A row changes once, when a run of consolidation takes it up.
import type { ObservationRecord, ObservationType } from '../../entities/memory.ts'
import type { Tx } from '../ledger.ts'
import type { ObservationTableRow } from '../schema.ts'
import { change, holesFor, queryRows, row, rows, type StatementCompiler, sql } from '../statement.ts'

type Row = Omit<ObservationTableRow, 'seq'> & { seq: number }

const toObservation = (stored: Row): ObservationRecord => ({
  seq: stored.seq,
  id: stored.id,
  sessionId: stored.session_id,
  branch: stored.branch,
  type: stored.type as ObservationType,
  content: stored.content,
  outcome: stored.outcome,
  taskId: stored.task_id,
  agentId: stored.agent_id,
  createdAt: stored.created_at,
  consolidatedBy: stored.consolidated_by,
})

const names = [
  'id',
  'session_id',
  'branch',
  'type',
  'content',
  'outcome',
  'task_id',
  'agent_id',
  'created_at',
  'consolidated_by',
] as const // prettier-ignore

/** The condition of the partial indexes, in their very words: only so does the planner see that they serve. */
const isPending = sql<boolean>`consolidated_by is null and type in ('insight', 'decision', 'discovery')`

export function createObservationTable(compiler: StatementCompiler): Tx['observation'] {
  const { prepare, dialect } = compiler
  const selectOne = prepare((db, hole) => db.selectFrom('observation').selectAll().where('id', '=', hole('id')))
  const selectPending = prepare((db, hole) =>
    db
      .selectFrom('observation')
      .selectAll()
      .where(isPending)
      .where('branch', '=', hole('branch'))
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  const selectPendingOf = prepare((db, hole) =>
    db
      .selectFrom('observation')
      .selectAll()
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
      .values(holesFor(names, hole))
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
    *get(id) {
      const found = yield* row<Row>(selectOne, { id })
      return found && toObservation(found)
    },
    *pending(branch, session, limit) {
      const found =
        session === null
          ? yield* rows<Row>(selectPending, { branch, limit })
          : yield* rows<Row>(selectPendingOf, { branch, session, limit })
      return found.map(toObservation)
    },
    *pendingSessions(branch) {
      return (yield* rows<{ session_id: string }>(selectSessions, { branch })).map((found) => found.session_id)
    },
    *pendingBranches(session) {
      return (yield* rows<{ branch: string }>(selectBranches, { session })).map((found) => found.branch)
    },
    *countPending(branch, session) {
      return Number((yield* row<{ pending: number }>(countPending, { branch, session }))?.pending ?? 0)
    },
    *list(filter, limit, before) {
      let query = dialect.db.selectFrom('observation').selectAll().where('seq', '<', before)
      // PostgreSQL has no empty list.
      if (filter.types?.length === 0) return []
      if (filter.types !== undefined) query = query.where('type', 'in', filter.types)
      if (filter.branch !== undefined) query = query.where('branch', '=', filter.branch)
      if (filter.sessionId !== undefined) query = query.where('session_id', '=', filter.sessionId)
      if (filter.taskId !== undefined) query = query.where('task_id', '=', filter.taskId)
      if (filter.agentId !== undefined) query = query.where('agent_id', '=', filter.agentId)
      return (yield* queryRows<Row>(query.orderBy('seq', 'desc').limit(limit).compile())).map(toObservation)
    },
    *insert(observation) {
      const written = yield* change(insertObservation, {
        id: observation.id,
        session_id: observation.sessionId,
        branch: observation.branch,
        type: observation.type,
        content: observation.content,
        outcome: observation.outcome,
        task_id: observation.taskId,
        agent_id: observation.agentId,
        created_at: observation.createdAt,
        consolidated_by: observation.consolidatedBy,
      })
      return written > 0
    },
    *consume(id, consolidation) {
      yield* change(updateConsumed, { id, consolidation })
    },
  }
}
