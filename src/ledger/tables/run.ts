// The run table: which instance runs which task, and how each run ended.
import type { RunOutcome, RunRecord, RunStatus } from '../../entities/run.ts'
import { fromJson } from '../../json.ts'
import type { OwnRuns, Tx } from '../ledger.ts'
import type { RunTableRow } from '../schema.ts'
import { change, type Holes, listed, row, rows, type StatementCompiler, sql } from '../statement.ts'

const toRecord = (stored: RunTableRow): RunRecord => ({
  taskId: stored.task_id,
  number: stored.number,
  attempt: stored.attempt,
  instanceId: stored.instance_id,
  status: stored.status as RunStatus,
  outcome: stored.outcome as RunOutcome | null,
  error: stored.error === null ? null : fromJson(stored.error),
  startedAt: stored.started_at,
  endedAt: stored.ended_at,
  closedAt: stored.closed_at,
  dueAt: stored.due_at,
})

/** The values of the holes of `timed`. */
const ownerOf = ({ instanceId, executors }: OwnRuns) => ({ instance: instanceId, executors: JSON.stringify(executors) })

export function createRunTable(compiler: StatementCompiler): Tx['run'] {
  const { prepare, dialect } = compiler
  const selectOne = prepare((db, hole) =>
    db.selectFrom('run').selectAll().where('task_id', '=', hole('task')).where('number', '=', hole('number')),
  )
  const selectOfTask = prepare((db, hole) =>
    db.selectFrom('run').selectAll().where('task_id', '=', hole('task')).orderBy('number', 'asc'),
  )
  // The conditions of the partial indexes stand in the text, so that the planner sees that they serve.
  const selectOpenOf = prepare((db, hole) =>
    db
      .selectFrom('run')
      .selectAll()
      .where('instance_id', '=', hole('instance'))
      .where(sql<boolean>`status <> 'closed'`)
      .orderBy('started_at', 'asc'),
  )
  /** Live runs with a time limit that one engine may end: its own, and those of executors that it has too. */
  const timed = (db: typeof dialect.db, hole: Holes) =>
    db
      .selectFrom('run')
      .innerJoin('task', 'task.id', 'run.task_id')
      .where(sql<boolean>`run.status = 'live' and run.due_at is not null`)
      .where(
        sql<boolean>`(run.instance_id = ${hole('instance')} or task.executor in ${listed(dialect, hole('executors'))})`,
      )
  const selectDue = prepare((db, hole) =>
    timed(db, hole)
      .selectAll('run')
      .where('run.due_at', '<=', hole('now'))
      .orderBy('run.due_at', 'asc')
      .limit(hole('limit')),
  )
  const selectNextDue = prepare((db, hole) =>
    timed(db, hole).select('run.due_at as at').orderBy('run.due_at', 'asc').limit(1),
  )
  const countOpen = prepare((db) =>
    db
      .selectFrom('run')
      .innerJoin('task', 'task.id', 'run.task_id')
      .select(['task.executor as executor', (query) => query.fn.countAll<number>().as('open')])
      .where(sql<boolean>`run.status <> 'closed'`)
      .groupBy('task.executor'),
  )
  // Each open run leads to its task by the primary key: as many look-ups as the engine has slots.
  const countOpenOf = prepare((db, hole) =>
    db
      .selectFrom('run')
      .innerJoin('task', 'task.id', 'run.task_id')
      .select(['task.executor as executor', (query) => query.fn.countAll<number>().as('open')])
      .select(sql<number>`max(task.crashes)`.as('crashes'))
      .where('run.instance_id', '=', hole('instance'))
      .where(sql<boolean>`run.status <> 'closed'`)
      .groupBy('task.executor'),
  )
  const insertRun = prepare((db, hole) =>
    db.insertInto('run').values({
      task_id: hole('task'),
      number: hole('number'),
      attempt: hole('attempt'),
      instance_id: hole('instance'),
      status: hole('status'),
      outcome: null,
      error: null,
      started_at: hole('started'),
      ended_at: null,
      closed_at: null,
      due_at: hole('due'),
    }),
  )
  const updateRun = prepare((db, hole) =>
    db
      .updateTable('run')
      .set({
        status: hole('status'),
        outcome: hole('outcome'),
        error: hole('error'),
        ended_at: hole('ended'),
        closed_at: hole('closed'),
      })
      .where('task_id', '=', hole('task'))
      .where('number', '=', hole('number')),
  )

  return {
    *get(task, number) {
      const found = yield* row<RunTableRow>(selectOne, { task, number })
      return found && toRecord(found)
    },
    *list(task) {
      return (yield* rows<RunTableRow>(selectOfTask, { task })).map(toRecord)
    },
    *openOf(instance) {
      return (yield* rows<RunTableRow>(selectOpenOf, { instance })).map(toRecord)
    },
    *countOpen() {
      const counted = yield* rows<{ executor: string; open: number }>(countOpen)
      return new Map(counted.map(({ executor, open }) => [executor, Number(open)]))
    },
    *countOpenOf(instance) {
      const counted = yield* rows<{ executor: string; open: number; crashes: number }>(countOpenOf, { instance })
      return {
        perExecutor: new Map(counted.map(({ executor, open }) => [executor, Number(open)])),
        crashes: Math.max(0, ...counted.map(({ crashes }) => Number(crashes))),
      }
    },
    *due(now, limit, own) {
      return (yield* rows<RunTableRow>(selectDue, { now, limit, ...ownerOf(own) })).map(toRecord)
    },
    *nextDue(own) {
      return (yield* row<{ at: number }>(selectNextDue, ownerOf(own)))?.at
    },
    *insert(run) {
      yield* change(insertRun, {
        task: run.taskId,
        number: run.number,
        attempt: run.attempt,
        instance: run.instanceId,
        status: run.status,
        started: run.startedAt,
        due: run.dueAt,
      })
    },
    *save(run) {
      yield* change(updateRun, {
        task: run.taskId,
        number: run.number,
        status: run.status,
        outcome: run.outcome,
        error: run.error === null ? null : JSON.stringify(run.error),
        ended: run.endedAt,
        closed: run.closedAt,
      })
    },
  }
}
