// The board tables: lists of tasks under numbers of their own.

import type { BoardNeighbour, Op, Tx } from '../../ledger.ts'
import { numberOf, rows, type StatementCompiler, sliced, sql, write } from '../../statement.ts'
import { defineTable, json, ofBoard, ofTask, plain, statementsOf } from '../../table-mapping.ts'
import { tasks } from '../task-columns.ts'

const boards = defineTable('board', {
  name: ofBoard,
  parentId: plain,
  nextNumber: plain,
  seenSeq: plain,
  createdAt: plain,
})

export const entries = defineTable('board_task', { board: ofBoard, number: plain, taskId: ofTask, fields: json })

export function createBoardTable(compiler: StatementCompiler): Tx['board'] {
  const { prepareText } = compiler
  const { inserts, saves } = statementsOf(compiler, entries)
  const ofBoards = statementsOf(compiler, boards)
  const selectBoards = ofBoards.select('boards', (board) => board.orderBy('name', 'asc'))
  const upsertBoard = ofBoards.upsert(['name'], ['nextNumber', 'seenSeq'])
  const { selectEntry, selectEntryOf, selectPage } = boardStatements(compiler)
  /** The tasks at the other end of the edges that a task has on one side. */
  const neighbours = (side: 'task_id' | 'blocker_id', other: 'task_id' | 'blocker_id', order: string) => {
    const [here, there] = [sql.ref(`edge.${side}`), sql.ref(`edge.${other}`)]
    const selectEnds = prepareText(
      'neighbours',
      (hole) => sql`select ${there} as "taskId", entry.number, edge.satisfied_at
        from dependency as edge
        join task on task.id = ${there} and task.deleted_at is null
        left join board_task as entry on entry.task_id = ${there} and entry.board = ${hole('board')}
        where ${here} = ${hole('task', ofTask)} and edge.kind = 'after'
        order by ${sql.ref(order)}`,
    )
    return function* (board: string, task: string): Op<BoardNeighbour[]> {
      const found = yield* sliced(
        rows<Omit<BoardNeighbour, 'open'> & { satisfied_at: number | null }>(selectEnds, { board, task }),
      )
      return found.map(({ taskId, number, satisfied_at }) => ({ taskId, number, open: satisfied_at === null }))
    }
  }
  const { selectUnnumbered, selectLastSeq, selectBound } = numberStatements(compiler)
  const saveFields = saves({ fields: json }, ['board', 'taskId'], { concerns: 'tasks' })

  return {
    get: ofBoards.finds('name', 'boards'),
    toAdd: ofBoards.finds('name'),
    toNumber: ofBoards.finds('name', 'numbering'),
    list: () => boards.list(selectBoards),
    entry: (board, number) => entries.one(selectEntry, { board, number }),
    entryOf: (board, task) => entries.one(selectEntryOf, { board, task }),
    *page(board, after, limit) {
      const found = yield* sliced(rows<object>(selectPage, { board, after, limit }))
      return found.map((joined) => ({ entry: entries.pick(joined), task: tasks.pick(joined) }))
    },
    dependentsOf: neighbours('blocker_id', 'task_id', 'task.seq'),
    blockersOf: neighbours('task_id', 'blocker_id', 'edge.position'),
    unnumbered: (board, seq, limit) => rows<{ id: string; seq: number }>(selectUnnumbered, { board, seq, limit }),
    lastSeq: () => numberOf(selectLastSeq),
    boundTo: (board, workspace) => entries.one(selectBound, { board, workspace }),
    save: (board) => write(upsertBoard, board),
    insert: inserts([], 'board'),
    saveFields: (board, taskId, fields) => saveFields({ board, taskId, fields }),
  }
}

function boardStatements(compiler: StatementCompiler) {
  const { prepare } = compiler
  const { select } = statementsOf(compiler, entries)
  const selectEntry = select('boards', (entry, hole) =>
    entry.where('board', '=', hole('board')).where('number', '=', hole('number')),
  )
  const selectEntryOf = select('boards', (entry, hole) =>
    entry.where('task_id', '=', hole('task')).where('board', '=', hole('board')),
  )
  const selectPage = prepare((db, hole) =>
    db
      .selectFrom('board_task')
      .innerJoin('task', 'task.id', 'board_task.task_id')
      .select([tasks.columns(), entries.columns()] as never)
      .where('board_task.board', '=', hole('board'))
      .where('board_task.number', '>', hole('after'))
      .where('task.deleted_at', 'is', null)
      .orderBy('board_task.number', 'asc')
      .limit(hole('limit')),
  )
  return { selectEntry, selectEntryOf, selectPage }
}

function numberStatements(compiler: StatementCompiler) {
  const { prepare, prepareText, dialect } = compiler
  const selectUnnumbered = prepareText(
    'numbering',
    (hole) => sql`select id, seq from task
      where seq > ${hole('seq')} and deleted_at is null and system = 0
        and not exists (select 1 from board_task where board_task.task_id = task.id and board = ${hole('board', ofBoard)})
      order by seq limit ${hole('limit')}`,
  )
  const selectLastSeq = prepare('boards', (db) =>
    db.selectFrom('task').select((query) => query.fn.max('seq').as('seq')),
  )
  // The text of the expression in its index (migrations/0001-boards.ts), because the planner uses the index only then.
  const workspace =
    dialect.kind === 'postgres'
      ? sql`(fields::jsonb ->> 'workspace')`
      : sql`case when json_valid(fields) then json_extract(fields, '$.workspace') end`
  const selectBound = prepareText(
    (hole) => sql`select ${entries.columns()} from board_task
      where board = ${hole('board')} and ${workspace} = ${hole('workspace')} limit 1`,
  )
  return { selectUnnumbered, selectLastSeq, selectBound }
}
