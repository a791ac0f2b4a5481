// The event table: the audit trail and the only feed. Its `seq` is the position of each follower.
import { defineTable, json, plain, serial, statementsOf } from '../columns.ts'
import type { Tx } from '../ledger.ts'
import { appendEvent, numberOf, type StatementCompiler } from '../statement.ts'

export const events = defineTable('event', {
  seq: serial,
  type: plain,
  taskId: plain,
  at: plain,
  instanceId: plain,
  data: json,
})

export function createEventTable(compiler: StatementCompiler): Tx['event'] {
  const { prepare } = compiler
  const { select, insert } = statementsOf(compiler, events)
  /** On one side of a position, of one task or of all. */
  const onSide = (side: '<' | '>', order: 'asc' | 'desc'): Tx['event']['after'] => {
    const selectOfAll = select((event, hole) =>
      event.where('seq', side, hole('seq')).orderBy('seq', order).limit(hole('limit')),
    )
    const selectOfTask = select((event, hole) =>
      event
        .where('task_id', '=', hole('task'))
        .where('seq', side, hole('seq'))
        .orderBy('seq', order)
        .limit(hole('limit')),
    )
    return (seq, limit, task) => events.list(task === undefined ? selectOfAll : selectOfTask, { seq, limit, task })
  }
  const selectLast = prepare((db) => db.selectFrom('event').select((query) => query.fn.max('seq').as('seq')))
  const selectLastOf = prepare((db, hole) =>
    db
      .selectFrom('event')
      .select((query) => query.fn.max('seq').as('seq'))
      .where('task_id', '=', hole('task'))
      .where('type', '=', hole('type')),
  )
  const insertEvent = insert()

  return {
    after: onSide('>', 'asc'),
    before: onSide('<', 'desc'),
    last: () => numberOf(selectLast),
    lastOf: (task, type) => numberOf(selectLastOf, { task, type }),
    append: (event) => appendEvent(insertEvent, event),
  }
}
