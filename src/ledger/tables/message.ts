// The message table: conversations, insert only; a trigger refuses any change of a row.
import type { MessageRecord, MessageRole } from '../../entities/message.ts'
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
  const selectById = prepare((db, hole) => db.selectFrom('message').selectAll().where('id', '=', hole('id')))
  const selectLast = prepare((db, hole) =>
    db
      .selectFrom('message')
      .select((query) => query.fn.max('n').as('n'))
      .where('task_id', '=', hole('task')),
  )
  const insertMessage = prepare((db, hole) =>
    db.insertInto('message').values({
      task_id: hole('task'),
      n: hole('n'),
      id: hole('id'),
      role: hole('role'),
      content: hole('content'),
      announcement: hole('announcement'),
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
    *get(id) {
      const found = yield* row<MessageTableRow>(selectById, { id })
      return found && toRecord(found)
    },
    count,
    *append(message) {
      const n = (yield* count(message.taskId)) + 1
      yield* change(insertMessage, {
        task: message.taskId,
        n,
        id: message.id,
        role: message.role,
        content: message.content,
        announcement: message.announcement ? 1 : 0,
        run: message.run,
        ident: message.ident,
        ordinal: message.ordinal,
        timestamp: message.timestamp,
      })
      return n
    },
  }
}
