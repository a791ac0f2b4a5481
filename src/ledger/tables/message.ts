// The message table: conversations, insert only; a trigger refuses any change of a row.
import type { Delivery, MessageRecord, MessageRole } from '../../entities/message.ts'
import { fromJson } from '../../json.ts'
import type { Tx } from '../ledger.ts'
import type { MessageTableRow } from '../schema.ts'
import { change, row, rows, type StatementCompiler } from '../statement.ts'

const toRecord = (stored: MessageTableRow): MessageRecord => ({
  id: stored.id,
  taskId: stored.task_id,
  n: stored.n,
  role: stored.role as MessageRole,
  content: stored.content,
  announcement: stored.announcement === 1,
  step: stored.step === null ? null : fromJson(stored.step),
  delivery: stored.delivery as Delivery | null,
  run: stored.run,
  ident: stored.ident,
  ordinal: stored.ordinal,
  timestamp: stored.timestamp,
})

export function createMessageTable(compiler: StatementCompiler): Tx['message'] {
  const { prepare } = compiler
  const selectOfTask = prepare((db, hole) =>
    db.selectFrom('message').selectAll().where('task_id', '=', hole('task')).orderBy('n', 'asc'),
  )
  const selectPage = prepare((db, hole) =>
    db
      .selectFrom('message')
      .selectAll()
      .where('task_id', '=', hole('task'))
      .where('n', '>', hole('after'))
      .orderBy('n', 'asc')
      .limit(hole('limit')),
  )
  const selectSpoken = prepare((db, hole) =>
    db
      .selectFrom('message')
      .selectAll()
      .where('task_id', '=', hole('task'))
      .where('n', '>', hole('after'))
      .where('announcement', '=', 0)
      .orderBy('n', 'asc'),
  )
  const selectById = prepare((db, hole) => db.selectFrom('message').selectAll().where('id', '=', hole('id')))
  const selectLast = prepare((db, hole) =>
    db
      .selectFrom('message')
      .select((query) => query.fn.max('n').as('n'))
      .where('task_id', '=', hole('task')),
  )
  const selectLastDelivered = prepare((db, hole) =>
    db
      .selectFrom('message')
      .select((query) => query.fn.max('n').as('n'))
      .where('task_id', '=', hole('task'))
      .where('delivery', 'is not', null)
      .where('announcement', '=', hole('announcement')),
  )
  const insertMessage = prepare((db, hole) =>
    db.insertInto('message').values({
      task_id: hole('task'),
      n: hole('n'),
      id: hole('id'),
      role: hole('role'),
      content: hole('content'),
      announcement: hole('announcement'),
      step: hole('step'),
      delivery: hole('delivery'),
      run: hole('run'),
      ident: hole('ident'),
      ordinal: hole('ordinal'),
      timestamp: hole('timestamp'),
    }),
  )

  function* count(task: string) {
    return (yield* row<{ n: number | null }>(selectLast, { task }))?.n ?? 0
  }

  return {
    *list(task) {
      return (yield* rows<MessageTableRow>(selectOfTask, { task })).map(toRecord)
    },
    *page(task, after, limit) {
      return (yield* rows<MessageTableRow>(selectPage, { task, after, limit })).map(toRecord)
    },
    *spoken(task, after) {
      return (yield* rows<MessageTableRow>(selectSpoken, { task, after })).map(toRecord)
    },
    *get(id) {
      const found = yield* row<MessageTableRow>(selectById, { id })
      return found && toRecord(found)
    },
    count,
    *lastDelivered(task) {
      return (yield* row<{ n: number | null }>(selectLastDelivered, { task, announcement: 0 }))?.n ?? 0
    },
    *append(message) {
      const n = (yield* count(message.taskId)) + 1
      yield* change(insertMessage, {
        task: message.taskId,
        n,
        id: message.id,
        role: message.role,
        content: message.content,
        announcement: message.announcement ? 1 : 0,
        step: message.step === null ? null : JSON.stringify(message.step),
        delivery: message.delivery,
        run: message.run,
        ident: message.ident,
        ordinal: message.ordinal,
        timestamp: message.timestamp,
      })
      return n
    },
  }
}
