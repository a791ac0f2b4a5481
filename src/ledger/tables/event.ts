// The event table: the audit trail and the one feed. Its `seq` is the position of everyone who follows.
import { defineTable, json, plain, selecting, serial } from '../columns.ts'
import type { Tx } from '../ledger.ts'
import { appendEvent, returningSeq, row, type StatementCompiler } from '../statement.ts'

export const events = defineTable('event', {
  seq: serial,
  type: plain,
  taskId: plain,
  at: plain,
  instanceId: plain,
  data: json,
})

export function createEventTable(compiler: StatementCompiler): Tx['event'] {
  const { prepare, dialect } = compiler
  const select = selecting(compiler, events)
  const selectAfter = select((event, hole) =>
    event.where('seq', '>', hole('seq')).orderBy('seq', 'asc').limit(hole('limit')),
  )
  const selectAfterOfTask = select((event, hole) =>
    event.where('task_id', '=', hole('task')).where('seq', '>', hole('seq')).orderBy('seq', 'asc').limit(hole('limit')),
  )
  const selectBefore = select((event, hole) =>
    event.where('seq', '<', hole('seq')).orderBy('seq', 'desc').limit(hole('limit')),
  )
  const selectBeforeOfTask = select((event, hole) =>
    event
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
  const insertEvent = prepare((db, hole) => returningSeq(dialect)(db.insertInto('event').values(events.holes(hole))))

  return {
    after: (seq, limit, task) =>
      task === undefined
        ? events.list(selectAfter, { seq, limit })
        : events.list(selectAfterOfTask, { seq, limit, task }),
    before: (seq, limit, task) =>
      task === undefined
        ? events.list(selectBefore, { seq, limit })
        : events.list(selectBeforeOfTask, { seq, limit, task }),
    *last() {
      return (yield* row<{ seq: number | null }>(selectLast))?.seq ?? 0
    },
    *lastOf(task, type) {
      return (yield* row<{ seq: number | null }>(selectLastOf, { task, type }))?.seq ?? 0
    },
    append: (event) => appendEvent(insertEvent, event),
  }
}
