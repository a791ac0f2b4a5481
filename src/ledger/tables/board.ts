// The board tables: lists of tasks under numbers of their own.
import type { BoardEntry, BoardFields, BoardRecord } from '../../entities/board.ts'
import { fromJson } from '../../json.ts'
import type { BoardNeighbour, Tx } from '../ledger.ts'
import type { BoardTableRow, BoardTaskTableRow } from '../schema.ts'
import { change, prepareText, row, rows, type StatementCompiler, sql } from '../statement.ts'
import { type Row, toRecord } from './task-row.ts'

const toBoard = (stored: BoardTableRow): BoardRecord => ({
  name: stored.name,
  parentId: stored.parent_id,
  nextNumber: stored.next_number,
  seenSeq: stored.seen_seq,
  createdAt: stored.created_at,
})

const toEntry = (stored: BoardTaskTableRow): BoardEntry => ({
  board: stored.board,
  number: stored.number,
  taskId: stored.task_id,
  fields: fromJson<BoardFields>(stored.fields),
})

interface NeighbourRow {
  id: string
  number: number | null
  satisfied_at: number | null
}

const toNeighbour = ({ id, number, satisfied_at }: NeighbourRow): BoardNeighbour => ({
  taskId: id,
  number,
  open: satisfied_at === null,
})

export function createBoardTable(compiler: StatementCompiler): Tx['board'] {
  const { prepare } = compiler
  const selectBoard = prepare((db, hole) => db.selectFrom('board').selectAll().where('name', '=', hole('name')))
  const selectBoards = prepare((db) => db.selectFrom('board').selectAll().orderBy('name', 'asc'))
  const upsertBoard = prepare((db, hole) =>
    db
      .insertInto('board')
      .values({
        name: hole('name'),
        parent_id: hole('parent'),
        next_number: hole('next'),
        seen_seq: hole('seen'),
        created_at: hole('created'),
      })
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet({
          next_number: (query) => query.ref('excluded.next_number'),
          seen_seq: (query) => query.ref('excluded.seen_seq'),
        }),
      ),
  )
  const selectEntry = prepare((db, hole) =>
    db.selectFrom('board_task').selectAll().where('board', '=', hole('board')).where('number', '=', hole('number')),
  )
  const selectEntryOf = prepare((db, hole) =>
    db.selectFrom('board_task').selectAll().where('task_id', '=', hole('task')).where('board', '=', hole('board')),
  )
  const selectPage = prepare((db, hole) =>
    db
      .selectFrom('board_task')
      .innerJoin('task', 'task.id', 'board_task.task_id')
      .selectAll('task')
      .select(['board_task.board', 'board_task.number', 'board_task.task_id', 'board_task.fields'])
      .where('board_task.board', '=', hole('board'))
      .where('board_task.number', '>', hole('after'))
      .where('task.deleted_at', 'is', null)
      .orderBy('board_task.number', 'asc')
      .limit(hole('limit')),
  )
  const selectEdges = prepareText(
    compiler,
    (hole) => sql`select edge.task_id, mine.number, edge.blocker_id, other.number as blocker_number, edge.satisfied_at,
        dependent.seq, edge.position
      from board_task as mine
      join task as dependent on dependent.id = mine.task_id and dependent.deleted_at is null
      join dependency as edge on edge.task_id = mine.task_id and edge.kind = 'after'
      join task as blocker on blocker.id = edge.blocker_id and blocker.deleted_at is null
      left join board_task as other on other.task_id = edge.blocker_id and other.board = mine.board
      where mine.board = ${hole('board')}
      union all
      select edge.task_id, mine.number, edge.blocker_id, other.number, edge.satisfied_at, dependent.seq, edge.position
      from board_task as other
      join dependency as edge on edge.blocker_id = other.task_id and edge.kind = 'after'
      join task as dependent on dependent.id = edge.task_id and dependent.deleted_at is null
      left join board_task as mine on mine.task_id = edge.task_id and mine.board = other.board
      where other.board = ${hole('board')} and mine.number is null
      order by 6, 7`,
  )
  /** The tasks at the other end of the edges that a task has on one side. */
  const neighbours = (side: 'task_id' | 'blocker_id', other: 'task_id' | 'blocker_id', order: string) =>
    prepareText(compiler, (hole) => {
      const [here, there] = [sql.ref(`edge.${side}`), sql.ref(`edge.${other}`)]
      return sql`select ${there} as id, entry.number, edge.satisfied_at
        from dependency as edge
        join task on task.id = ${there} and task.deleted_at is null
        left join board_task as entry on entry.task_id = ${there} and entry.board = ${hole('board')}
        where ${here} = ${hole('task')} and edge.kind = 'after'
        order by ${sql.ref(order)}`
    })
  const selectDependents = neighbours('blocker_id', 'task_id', 'task.seq')
  const selectBlockers = neighbours('task_id', 'blocker_id', 'edge.position')
  const selectUnnumbered = prepareText(
    compiler,
    (hole) => sql`select id, seq from task
      where seq > ${hole('seq')} and deleted_at is null
        and not exists (select 1 from board_task where board_task.task_id = task.id and board = ${hole('board')})
      order by seq limit ${hole('limit')}`,
  )
  const selectUnnumberedBelow = prepareText(
    compiler,
    (hole) => sql`with recursive below (id) as (
        select id from task where parent_id = ${hole('below')}
        union select child.id from task as child join below on child.parent_id = below.id)
      select task.id, task.seq from task join below on below.id = task.id
      where task.seq > ${hole('seq')} and task.deleted_at is null
        and not exists (select 1 from board_task where board_task.task_id = task.id and board = ${hole('board')})
      order by task.seq limit ${hole('limit')}`,
  )
  const selectLastSeq = prepare((db) => db.selectFrom('task').select('seq').orderBy('seq', 'desc').limit(1))
  const selectBound = prepareText(
    compiler,
    (hole) => sql`select board_task.* from board_task join task on task.id = board_task.task_id
      where board_task.board = ${hole('board')} and board_task.fields like '%"workspace":%'
        and task.completed_at is null and task.deleted_at is null`,
  )
  const insertEntry = prepare((db, hole) =>
    db
      .insertInto('board_task')
      .values({ board: hole('board'), number: hole('number'), task_id: hole('task'), fields: hole('fields') }),
  )
  const updateFields = prepare((db, hole) =>
    db
      .updateTable('board_task')
      .set({ fields: hole('fields') })
      .where('board', '=', hole('board'))
      .where('number', '=', hole('number')),
  )

  return {
    *get(name) {
      const found = yield* row<BoardTableRow>(selectBoard, { name })
      return found && toBoard(found)
    },
    *list() {
      return (yield* rows<BoardTableRow>(selectBoards)).map(toBoard)
    },
    *entry(board, number) {
      const found = yield* row<BoardTaskTableRow>(selectEntry, { board, number })
      return found && toEntry(found)
    },
    *entryOf(board, task) {
      const found = yield* row<BoardTaskTableRow>(selectEntryOf, { board, task })
      return found && toEntry(found)
    },
    *page(board, after, limit) {
      const found = yield* rows<Row & BoardTaskTableRow>(selectPage, { board, after, limit })
      return found.map((each) => ({ entry: toEntry(each), task: toRecord(each) }))
    },
    *edges(board) {
      const found = yield* rows<{
        task_id: string
        number: number | null
        blocker_id: string
        blocker_number: number | null
        satisfied_at: number | null
      }>(selectEdges, { board })
      return found.map((edge) => ({
        taskId: edge.task_id,
        number: edge.number,
        blockerId: edge.blocker_id,
        blockerNumber: edge.blocker_number,
        open: edge.satisfied_at === null,
      }))
    },
    *dependentsOf(board, task) {
      return (yield* rows<NeighbourRow>(selectDependents, { board, task })).map(toNeighbour)
    },
    *blockersOf(board, task) {
      return (yield* rows<NeighbourRow>(selectBlockers, { board, task })).map(toNeighbour)
    },
    *unnumbered(board, seq, below, limit) {
      return below === null
        ? yield* rows<{ id: string; seq: number }>(selectUnnumbered, { board, seq, limit })
        : yield* rows<{ id: string; seq: number }>(selectUnnumberedBelow, { board, seq, below, limit })
    },
    *lastSeq() {
      return (yield* row<{ seq: number }>(selectLastSeq))?.seq ?? 0
    },
    *boundTo(board, workspace) {
      const bound = (yield* rows<BoardTaskTableRow>(selectBound, { board })).map(toEntry)
      return bound.find((entry) => entry.fields.workspace === workspace)
    },
    *save(board) {
      yield* change(upsertBoard, {
        name: board.name,
        parent: board.parentId,
        next: board.nextNumber,
        seen: board.seenSeq,
        created: board.createdAt,
      })
    },
    *insert(entry) {
      yield* change(insertEntry, {
        board: entry.board,
        number: entry.number,
        task: entry.taskId,
        fields: JSON.stringify(entry.fields),
      })
    },
    *saveFields(board, number, fields) {
      yield* change(updateFields, { board, number, fields: JSON.stringify(fields) })
    },
  }
}
