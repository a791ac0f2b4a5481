// The signal table: what was sent to a task, kept until one of its waits takes it. A trigger refuses that it is taken twice.
import type { Tx } from '../ledger.ts'
import { insertSeq, numberOf, row, type StatementCompiler, sql, write } from '../statement.ts'
import { defineTable, json, ofTask, plain, serial, statementsOf } from '../table-mapping.ts'

const signals = defineTable('signal', {
  seq: serial,
  taskId: ofTask,
  name: plain,
  sentId: plain,
  payload: json,
  createdAt: plain,
  takenBy: plain,
})

export function createSignalTable(compiler: StatementCompiler): Tx['signal'] {
  const { prepareText } = compiler
  const { select, insert } = statementsOf(compiler, signals)
  const selectKept = select((signal, hole) =>
    signal
      .where('task_id', '=', hole('task', ofTask))
      .where('name', '=', hole('name'))
      .where('taken_by', 'is', null)
      .orderBy('seq', 'asc')
      .limit(1),
  )
  const selectOldestKept = select((signal, hole) =>
    signal.where('task_id', '=', hole('task', ofTask)).where('taken_by', 'is', null).orderBy('seq', 'asc').limit(1),
  )
  const countKept = prepareText(
    (hole) => sql`select count(*) as n from signal where task_id = ${hole('task', ofTask)} and taken_by is null`,
  )
  const selectSent = prepareText(
    (hole) => sql`select 1 from signal
      where task_id = ${hole('task', ofTask)} and name = ${hole('name')} and sent_id = ${hole('sentId')}`,
  )
  const updateTaken = prepareText(
    { changes: 'signal' },
    (hole) => sql`update signal set taken_by = ${hole('takenBy')}, payload = 'null'
      where task_id = ${hole('taskId', ofTask)} and seq = ${hole('seq')}`,
  )
  const insertSignal = insert()

  return {
    kept: (task, name) => signals.one(selectKept, { task, name }),
    oldestKept: (task) => signals.one(selectOldestKept, { task }),
    countKept: (task) => numberOf(countKept, { task }),
    *wasSent(task, name, sentId) {
      return (yield* row(selectSent, { task, name, sentId })) !== undefined
    },
    insert: (signal) => insertSeq(insertSignal, signal),
    take: (signal, takenBy) => write(updateTaken, { ...signal, takenBy }),
  }
}
