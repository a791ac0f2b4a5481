// The event table: the audit trail and the only feed. Its `seq` is the position of each follower.
import type { TaskEvent } from '../../entities/event.ts'
import { defineTable, json, ofTask, plain, serial, statementsOf } from '../columns.ts'
import type { Op, Tx } from '../ledger.ts'
import { pageOf } from '../page-bytes.ts'
import { appendEvent, column, type Holes, listed, numberOf, type StatementCompiler, sliced, sql } from '../statement.ts'
import { isShown } from './hidden.ts'

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
  const { insert } = statementsOf(compiler, events)
  const after = eventsOnSide(compiler, '>', 'asc')
  const before = eventsOnSide(compiler, '<', 'desc')
  const selectLast = prepare((db) => db.selectFrom('event').select((query) => query.fn.max('seq').as('seq')))
  const selectLastOf = prepare((db, hole) =>
    db
      .selectFrom('event')
      .select((query) => query.fn.max('seq').as('seq'))
      .where('task_id', '=', hole('task', ofTask))
      .where('type', '=', hole('type')),
  )
  const insertEvent = insert()

  return {
    after: after.list,
    before: before.list,
    pageAfter: after.page,
    pageBefore: before.page,
    last: () => numberOf(selectLast),
    lastOf: (task, type) => numberOf(selectLastOf, { task, type }),
    append: (event) => appendEvent(insertEvent, event),
  }
}

/** The events on one side of a position, of one task or of all. */
function eventsOnSide(
  compiler: StatementCompiler,
  side: '<' | '>',
  order: 'asc' | 'desc',
): { list: Tx['event']['after']; page: Tx['event']['pageAfter'] } {
  const { prepare, prepareText, dialect } = compiler
  const { select } = statementsOf(compiler, events)
  const selectHiddenThrough = prepareText(() => sql`select max(through) from purging`)
  const selectHidden = prepareText(
    (hole) => sql`select value from ${listed(dialect, hole('tasks'))} as named where not ${isShown(sql`named.value`)}`,
  )
  function* withoutHidden(page: TaskEvent[], through: number): Op<TaskEvent[]> {
    const named = new Set(page.filter(({ seq }) => seq <= through).map(({ taskId }) => taskId))
    if (named.size === 0) return page
    const hidden = new Set(yield* column<string>(selectHidden, { tasks: JSON.stringify([...named]) }))
    return page.filter(({ taskId }) => !hidden.has(taskId))
  }
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
      .where(sql<boolean>`${isShown(hole('task'))}`)
      .where('seq', side, hole('seq'))
      .orderBy('seq', order)
      .limit(hole('limit')),
  )
  const list: Tx['event']['after'] = function* (seq, limit, task) {
    if (task !== undefined) return yield* events.list(selectOfTask, { seq, limit, task })
    let page = yield* events.list(selectOfAll, { seq, limit })
    const through = page.length === 0 ? 0 : yield* numberOf(selectHiddenThrough)
    if (through === 0) return page
    // The events of what is being purged may be many: each statement reads as many rows as a page has.
    const shown: TaskEvent[] = []
    for (;;) {
      for (const event of yield* withoutHidden(page, through)) if (shown.length < limit) shown.push(event)
      if (page.length < limit || shown.length === limit) return shown
      page = yield* sliced(events.list(selectOfAll, { seq: page.at(-1)?.seq, limit }))
    }
  }
  const page: Tx['event']['pageAfter'] = (seq, limit, task) =>
    pageOf(
      task === undefined ? sizesOfAll : sizesOfTask,
      { seq, limit, ...(task === undefined ? {} : { task }) },
      (fit) => list(seq, fit, task),
    )
  return { list, page }
}
