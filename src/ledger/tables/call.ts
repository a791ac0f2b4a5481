// The call table: the journal of every task. A trigger keeps an outcome from ever being taken back.
import type { CallKind, CallRecord, CallStatus } from '../../entities/call.ts'
import type { OnInterrupt } from '../../entities/task.ts'
import { fromJson } from '../../json.ts'
import { openCallStatuses } from '../../machines/call-machine.ts'
import type { SavedCall, Tx } from '../ledger.ts'
import type { CallTableRow } from '../schema.ts'
import { change, row, rows, type StatementCompiler, sql } from '../statement.ts'

type Row = Omit<CallTableRow, 'seq'> & { seq: number }

export const toCallRecord = (stored: Row): CallRecord => ({
  seq: stored.seq,
  id: stored.id,
  taskId: stored.task_id,
  run: stored.run,
  attempt: stored.attempt,
  kind: stored.kind as CallKind,
  name: stored.name,
  ident: stored.ident,
  ordinal: stored.ordinal,
  params: fromJson(stored.params),
  status: stored.status as CallStatus,
  onInterrupt: stored.on_interrupt as OnInterrupt,
  parentId: stored.parent_id,
  details: fromJson(stored.details),
  result: fromJson(stored.result),
  error: stored.error === null ? null : fromJson(stored.error),
  startMessageId: stored.start_message_id,
  endMessageId: stored.end_message_id,
  dueAt: stored.due_at,
  createdAt: stored.created_at,
  updatedAt: stored.updated_at,
})

const json = (value: unknown): string => (value === undefined || value === null ? 'null' : JSON.stringify(value))
const open = sql<boolean>`status in (${sql.join(openCallStatuses.map((status) => sql.lit(status)))})`

export function createCallTable(compiler: StatementCompiler): Tx['call'] {
  const { prepare } = compiler
  const selectById = prepare((db, hole) => db.selectFrom('call').selectAll().where('id', '=', hole('id')))
  const selectOfTask = prepare((db, hole) =>
    db.selectFrom('call').selectAll().where('task_id', '=', hole('task')).orderBy('seq', 'asc'),
  )
  const selectSince = prepare((db, hole) =>
    db
      .selectFrom('call')
      .selectAll()
      .where('task_id', '=', hole('task'))
      .where('seq', '>=', hole('seq'))
      .orderBy('seq', 'asc'),
  )
  const selectOpen = prepare((db, hole) =>
    db.selectFrom('call').selectAll().where('task_id', '=', hole('task')).where(open).orderBy('seq', 'asc'),
  )
  const selectDue = prepare((db, hole) =>
    db
      .selectFrom('call')
      .selectAll()
      .where('due_at', 'is not', null)
      .where('due_at', '<=', hole('now'))
      .orderBy('due_at', 'asc')
      .limit(hole('limit')),
  )
  const selectNextDue = prepare((db) =>
    db
      .selectFrom('call')
      .select((query) => query.fn.min('due_at').as('at'))
      .where('due_at', 'is not', null),
  )
  const insertCall = prepare((db, hole) =>
    db.insertInto('call').values({
      id: hole('id'),
      task_id: hole('task'),
      run: hole('run'),
      attempt: hole('attempt'),
      kind: hole('kind'),
      name: hole('name'),
      ident: hole('ident'),
      ordinal: hole('ordinal'),
      params: hole('params'),
      status: hole('status'),
      on_interrupt: hole('on_interrupt'),
      parent_id: hole('parent'),
      details: hole('details'),
      result: hole('result'),
      error: hole('error'),
      start_message_id: hole('start_message'),
      end_message_id: hole('end_message'),
      due_at: hole('due'),
      created_at: hole('created'),
      updated_at: hole('updated'),
    }),
  )
  const updateCall = prepare((db, hole) =>
    db
      .updateTable('call')
      .set({
        status: hole('status'),
        details: hole('details'),
        result: hole('result'),
        error: hole('error'),
        start_message_id: hole('start_message'),
        end_message_id: hole('end_message'),
        due_at: hole('due'),
        updated_at: hole('updated'),
      })
      .where('id', '=', hole('id')),
  )

  const outcomeOf = (call: SavedCall) => ({
    status: call.status,
    details: json(call.details),
    result: json(call.result),
    error: call.error === null ? null : JSON.stringify(call.error),
    start_message: call.startMessageId,
    end_message: call.endMessageId,
    due: call.dueAt,
    updated: call.updatedAt,
  })

  return {
    *get(id) {
      const found = yield* row<Row>(selectById, { id })
      return found && toCallRecord(found)
    },
    *list(task, kinds) {
      const found = (yield* rows<Row>(selectOfTask, { task })).map(toCallRecord)
      return kinds ? found.filter((call) => kinds.includes(call.kind)) : found
    },
    *since(task, seq, kinds) {
      const found = yield* rows<Row>(selectSince, { task, seq })
      return found.filter((stored) => kinds.includes(stored.kind as CallKind)).map(toCallRecord)
    },
    *open(task) {
      return (yield* rows<Row>(selectOpen, { task })).map(toCallRecord)
    },
    *due(now, limit) {
      return (yield* rows<Row>(selectDue, { now, limit })).map(toCallRecord)
    },
    *nextDue() {
      return (yield* row<{ at: number | null }>(selectNextDue))?.at ?? undefined
    },
    *insert(call) {
      yield* change(insertCall, {
        id: call.id,
        task: call.taskId,
        run: call.run,
        attempt: call.attempt,
        kind: call.kind,
        name: call.name,
        ident: call.ident,
        ordinal: call.ordinal,
        params: json(call.params),
        on_interrupt: call.onInterrupt,
        parent: call.parentId,
        created: call.createdAt,
        ...outcomeOf(call),
      })
    },
    *save(call) {
      yield* change(updateCall, { id: call.id, ...outcomeOf(call) })
    },
  }
}
