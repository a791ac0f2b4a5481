// The event table: the audit trail and the one feed. Its `seq` is the position of everyone who follows.
import type { EventType, TaskEvent } from '../../entities/event.ts'
import { fromJson } from '../../json.ts'
import type { Tx } from '../ledger.ts'
import type { EventTableRow } from '../schema.ts'
import { appendEvent, returningSeq, row, rows, type StatementCompiler } from '../statement.ts'

type Row = Omit<EventTableRow, 'seq'> & { seq: number }

export const toEvent = (stored: Row): TaskEvent => ({
  seq: stored.seq,
  type: stored.type as EventType,
  taskId: stored.task_id,
  at: stored.at,
  instanceId: stored.instance_id,
  data: fromJson(stored.data),
})

export function createEventTable(compiler: StatementCompiler): Tx['event'] {
  const { prepare, dialect } = compiler
  const selectAfter = prepare((db, hole) =>
    db.selectFrom('event').selectAll().where('seq', '>', hole('seq')).orderBy('seq', 'asc').limit(hole('limit')),
  )
  const selectAfterOfTask = prepare((db, hole) =>
    db
      .selectFrom('event')
      .selectAll()
      .where('task_id', '=', hole('task'))
      .where('seq', '>', hole('seq'))
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  const selectBefore = prepare((db, hole) =>
    db.selectFrom('event').selectAll().where('seq', '<', hole('seq')).orderBy('seq', 'desc').limit(hole('limit')),
  )
  const selectBeforeOfTask = prepare((db, hole) =>
    db
      .selectFrom('event')
      .selectAll()
      .where('task_id', '=', hole('task'))
      .where('seq', '<', hole('seq'))
      .orderBy('seq', 'desc')
      .limit(hole('limit')),
  )
  const selectLast = prepare((db) => db.selectFrom('event').select((query) => query.fn.max('seq').as('seq')))
  const selectLastOf = prepare((db, hole) =>
    db
      .selectFrom('event')
      .select((query) => query.fn.max('seq').as('seq'))
      .where('task_id', '=', hole('task'))
      .where('type', '=', hole('type')),
  )
  const insertEvent = prepare((db, hole) =>
    returningSeq(dialect)(
      db.insertInto('event').values({
        type: hole('type'),
        task_id: hole('task'),
        at: hole('at'),
        instance_id: hole('instance'),
        data: hole('data'),
      }),
    ),
  )

  return {
    *after(seq, limit, task) {
      const found =
        task === undefined
          ? yield* rows<Row>(selectAfter, { seq, limit })
          : yield* rows<Row>(selectAfterOfTask, { seq, limit, task })
      return found.map(toEvent)
    },
    *before(seq, limit, task) {
      const found =
        task === undefined
          ? yield* rows<Row>(selectBefore, { seq, limit })
          : yield* rows<Row>(selectBeforeOfTask, { seq, limit, task })
      return found.map(toEvent)
    },
    *last() {
      return (yield* row<{ seq: number | null }>(selectLast))?.seq ?? 0
    },
    *lastOf(task, type) {
      return (yield* row<{ seq: number | null }>(selectLastOf, { task, type }))?.seq ?? 0
    },
    *append(event) {
      const values = {
        type: event.type,
        task: event.taskId,
        at: event.at,
        instance: event.instanceId,
        data: JSON.stringify(event.data),
      }
      return yield* appendEvent(insertEvent, values, event)
    },
  }
}
