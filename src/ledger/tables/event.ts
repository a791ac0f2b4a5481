// The event table: the audit trail and the only feed. Its `seq` is the position of each follower.

import type { Tx } from '../ledger.ts'
import { appendEvent, type Holes, numberOf, pageOf, type StatementCompiler, sql } from '../statement.ts'
import { defineTable, json, ofTask, plain, serial, statementsOf } from '../table-mapping.ts'
import { createEventCounts } from './event-counts.ts'

export const events = defineTable('event', {
  seq: serial,
  type: plain,
  taskId: ofTask,
  at: plain,
  instanceId: plain,
  data: json,
})

export function createEventTable(compiler: StatementCompiler): Tx['event'] {
  const { prepare } = compiler
  const { insert, select } = statementsOf(compiler, events)
  const after = eventsOnSide(compiler, '>', 'asc')
  const before = eventsOnSide(compiler, '<', 'desc')
  const selectLast = prepare((db) => db.selectFrom('event').select((query) => query.fn.max('seq').as('seq')))
  const selectLatestOf = select((event, hole) =>
    event
      .where('task_id', '=', hole('task', ofTask))
      .where('type', '=', hole('type'))
      .orderBy('seq', 'desc')
      .limit(hole('limit')),
  )
  const insertEvent = insert()

  return {
    after: after.list,
    before: before.list,
    pageAfter: after.page,
    pageBefore: before.page,
    ...createEventCounts(compiler),
    last: () => numberOf(selectLast),
    latestOf: (task, type, limit) => events.list(selectLatestOf, { task, type, limit }),
    append: (event) => appendEvent(insertEvent, event),
  }
}

/** The events on one side of a position, of one task or of all. */
function eventsOnSide(
  compiler: StatementCompiler,
  side: '<' | '>',
  order: 'asc' | 'desc',
): { list: Tx['event']['after']; page: Tx['event']['pageAfter'] } {
  const { prepare, dialect } = compiler
  const { select } = statementsOf(compiler, events)
  const sizes = (db: typeof dialect.db, hole: Holes) =>
    db
      .selectFrom('event')
      .select(sql<number>`octet_length(data)`.as('bytes'))
      .where('seq', side, hole('seq'))
      .orderBy('seq', order)
      .limit(hole('limit'))
  const sizesOfAll = prepare(sizes)
  const sizesOfTask = prepare((db, hole) => sizes(db, hole).where('task_id', '=', hole('task', ofTask)))
  const selectOfAll = select((event, hole) =>
    event.where('seq', side, hole('seq')).orderBy('seq', order).limit(hole('limit')),
  )
  const selectOfTask = select((event, hole) =>
    event
      .where('task_id', '=', hole('task', ofTask))
      .where('seq', side, hole('seq'))
      .orderBy('seq', order)
      .limit(hole('limit')),
  )
  const list: Tx['event']['after'] = (seq, limit, task) =>
    task === undefined ? events.list(selectOfAll, { seq, limit }) : events.list(selectOfTask, { seq, limit, task })
  const page: Tx['event']['pageAfter'] = (seq, limit, task) =>
    pageOf(
      task === undefined ? sizesOfAll : sizesOfTask,
      { seq, limit, ...(task === undefined ? {} : { task }) },
      (fit) => list(seq, fit, task),
    )
  return { list, page }
}
