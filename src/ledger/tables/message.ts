// The message table: conversations, insert only; a trigger refuses any change of a row.

import type { Tx } from '../ledger.ts'
import { change, type Holes, numberOf, pageOf, type StatementCompiler, sql } from '../statement.ts'
import { defineTable, flag, jsonOrNull, ofTask, plain, statementsOf } from '../table-mapping.ts'

export const messages = defineTable('message', {
  id: plain,
  taskId: ofTask,
  n: plain,
  role: plain,
  content: plain,
  announcement: flag,
  step: jsonOrNull,
  delivery: plain,
  run: plain,
  generation: plain,
  ident: plain,
  ordinal: plain,
  timestamp: plain,
})

export function createMessageTable(compiler: StatementCompiler): Tx['message'] {
  const { prepare, prepareText, dialect } = compiler
  const { select, finds, insert } = statementsOf(compiler, messages)
  const selectOfTask = select((message, hole) =>
    message.where('task_id', '=', hole('task', ofTask)).orderBy('n', 'asc'),
  )
  // The condition of its partial index is part of the text, because the planner uses the index only then.
  const selectOfGeneration = select((message, hole) =>
    message
      .where('task_id', '=', hole('task', ofTask))
      .where('generation', '=', hole('generation'))
      .where(sql<boolean>`generation > 1 and ident is not null`)
      .orderBy('n', 'asc'),
  )
  const selectPage = select((message, hole) =>
    message
      .where('task_id', '=', hole('task', ofTask))
      .where('n', '>', hole('after'))
      .orderBy('n', 'asc')
      .limit(hole('limit')),
  )
  const sizesOfPage = prepareText(
    (hole) => sql`select octet_length(content) + coalesce(octet_length(step), 0) as bytes from message
      where task_id = ${hole('task', ofTask)} and n > ${hole('after')} order by n limit ${hole('limit')}`,
  )
  const selectSpoken = select((message, hole) =>
    message
      .where('task_id', '=', hole('task', ofTask))
      .where('n', '>', hole('after'))
      .where('announcement', '=', 0)
      .orderBy('n', 'asc'),
  )
  const lastOf = (db: typeof dialect.db, hole: Holes) =>
    db
      .selectFrom('message')
      .select((query) => query.fn.max('n').as('n'))
      .where('task_id', '=', hole('task', ofTask))
  const selectLast = prepare(lastOf)
  const selectLastDelivered = prepare((db, hole) =>
    lastOf(db, hole).where('delivery', 'is not', null).where('announcement', '=', hole('announcement')),
  )
  const insertMessage = insert()

  const count = (task: string) => numberOf(selectLast, { task })

  return {
    list: (task) => messages.list(selectOfTask, { task }),
    *ofGeneration(task, generation) {
      if (generation > 1) return yield* messages.list(selectOfGeneration, { task, generation })
      return (yield* messages.list(selectOfTask, { task })).filter((message) => message.generation === generation)
    },
    page: (task, after, limit) =>
      pageOf(sizesOfPage, { task, after, limit }, (fit) => messages.list(selectPage, { task, after, limit: fit })),
    spoken: (task, after) => messages.list(selectSpoken, { task, after }),
    get: finds('id'),
    count,
    lastDelivered: (task) => numberOf(selectLastDelivered, { task, announcement: 0 }),
    *append(message) {
      const n = (yield* count(message.taskId)) + 1
      yield* change(insertMessage, { ...message, n })
      return n
    },
  }
}
