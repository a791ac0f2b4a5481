// The run table: which instance runs which task, and how each run ended.

import { liveRunStatuses, slotStatuses } from '../../entities/run.ts'
import type { OwnRuns, Tx } from '../ledger.ts'
import { among, type Holes, rows, type StatementCompiler, sql } from '../statement.ts'
import { defineTable, jsonOrNull, ofTask, plain, statementsOf } from '../table-mapping.ts'
import { tasks } from './task-columns.ts'

/** What `save` writes. */
const endFields = { status: plain, outcome: plain, error: jsonOrNull, endedAt: plain, closedAt: plain }
/** What `saveSlot` writes. */
const slotFields = { status: plain, dueAt: plain }

export const runs = defineTable('run', {
  taskId: ofTask,
  number: plain,
  generation: plain,
  attempt: plain,
  instanceId: plain,
  startedAt: plain,
  dueAt: plain,
  ...endFields,
})

/** Live runs with a time limit that one engine may end: its own, and those of executors that it has too. */
export const mayTimeOut = (dialect: StatementCompiler['dialect'], hole: Holes) =>
  sql<boolean>`run.status = 'live' and run.due_at is not null
    and (run.instance_id = ${hole('instance')} or task.executor ${among(dialect, hole('executors'))})`

const literals = (statuses: readonly string[]) => sql.join(statuses.map((status) => sql.lit(status)))
/** The statuses of live runs, for `in`. */
export const liveRuns = literals(liveRunStatuses)
const holdingStatuses = literals(slotStatuses)
/** A run that holds a slot. `<> 'closed'` for the planner, which uses the partial index of open runs only then. */
export const holdsSlot = sql<boolean>`run.status <> 'closed' and run.status in (${holdingStatuses})`

/** The values of the holes of `mayTimeOut`. */
export const ownerOf = ({ instanceId, executors }: OwnRuns) => ({
  instance: instanceId,
  executors: JSON.stringify(executors),
})

/** The bounds of the generations that a page shows: one, or all. */
export function generations(one: number | undefined): { from: number; to: number } {
  return { from: one ?? 0, to: one ?? Number.MAX_SAFE_INTEGER }
}

export function createRunTable(compiler: StatementCompiler): Tx['run'] {
  const { inserts, saves } = statementsOf(compiler, runs)
  const { selectOne, selectOfTask, selectPage, selectOpenOf, selectQueuedOf, selectDue, countOpen, countOpenOf } =
    runStatements(compiler)

  return {
    get: (taskId, number) => runs.one(selectOne, { taskId, number }),
    list: (task) => runs.list(selectOfTask, { task }),
    page: (task, after, limit, generation) => runs.list(selectPage, { task, after, limit, ...generations(generation) }),
    openOf: (instance) => runs.list(selectOpenOf, { instance }),
    queuedOf: (instance, system, { priority, seq } = { priority: Number.MAX_SAFE_INTEGER, seq: 0 }, limit) =>
      tasks.list(selectQueuedOf, { instance, system: system ? 1 : 0, priority, seq, limit }),
    *countOpen() {
      const found = yield* rows<{ executor: string; counted: number }>(countOpen)
      return new Map(found.map(({ executor, counted }) => [executor, Number(counted)]))
    },
    *countOpenOf(instance) {
      const counted = yield* rows<{ executor: string; system: number; open: number; crashes: number }>(countOpenOf, {
        instance,
      })
      const others = counted.filter(({ system }) => Number(system) === 0)
      return {
        perExecutor: new Map(others.map(({ executor, open }) => [executor, Number(open)])),
        system: counted.reduce((sum, { system, open }) => sum + Number(system) * Number(open), 0),
        crashes: counted.reduce((most, { crashes }) => Math.max(most, Number(crashes)), 0),
      }
    },
    due: (now, limit, own) => runs.list(selectDue, { now, limit, ...ownerOf(own) }),
    insert: inserts(['taskId', 'number']),
    save: saves(endFields, ['taskId', 'number']),
    saveSlot: saves(slotFields, ['taskId', 'number']),
  }
}

function runStatements(compiler: StatementCompiler) {
  const { prepare, dialect } = compiler
  const { selectRow, select } = statementsOf(compiler, runs)
  const selectOne = selectRow('taskId', 'number')
  const selectOfTask = select((run, hole) => run.where('task_id', '=', hole('task', ofTask)).orderBy('number', 'asc'))
  const selectPage = select((run, hole) =>
    run
      .where('task_id', '=', hole('task', ofTask))
      .where('number', '>', hole('after'))
      .where('generation', '>=', hole('from'))
      .where('generation', '<=', hole('to'))
      .orderBy('number', 'asc')
      .limit(hole('limit')),
  )
  // The conditions of the partial indexes are part of the text, because the planner uses the indexes only then.
  const selectOpenOf = select((run, hole) =>
    run
      .where('instance_id', '=', hole('instance'))
      .where(sql<boolean>`status <> 'closed'`)
      .orderBy('started_at', 'asc'),
  )
  const selectDue = prepare('overdue', (db, hole) =>
    db
      .selectFrom('run')
      .innerJoin('task', 'task.id', 'run.task_id')
      .where(mayTimeOut(dialect, hole))
      .select(runs.columns() as never)
      .where('run.due_at', '<=', hole('now'))
      .orderBy('run.due_at', 'asc')
      .limit(hole('limit')),
  )
  const selectQueuedOf = prepare('queue', (db, hole) =>
    db
      .selectFrom('run')
      .innerJoin('task', 'task.id', 'run.task_id')
      .where('run.instance_id', '=', hole('instance'))
      .where(sql<boolean>`run.status = 'queued'`)
      .where(sql<boolean>`task.system = ${hole('system')}`)
      .where(
        sql<boolean>`(task.priority < ${hole('priority')} or task.priority = ${hole('priority')} and task.seq > ${hole('seq')})`,
      )
      .select(tasks.columns('task') as never)
      .orderBy('task.priority', 'desc')
      .orderBy('task.seq', 'asc')
      .limit(hole('limit')),
  )
  /** Runs that hold a slot, by executor. Each finds its task by the primary key: as many look-ups as there are slots. */
  const openRuns = (db: typeof dialect.db) =>
    db
      .selectFrom('run')
      .innerJoin('task', 'task.id', 'run.task_id')
      .select(['task.executor as executor', (query) => query.fn.countAll<number>().as('open')])
      .where(holdsSlot)
      .groupBy('task.executor')
  // System tasks have slots of their own. Not as a condition, for which the planner would read all tasks.
  const countOpen = prepare('limits', (db) => openRuns(db).select(sql<number>`sum(1 - task.system)`.as('counted')))
  const countOpenOf = prepare('queue', (db, hole) =>
    openRuns(db)
      .select(['task.system as system', sql<number>`max(task.crashes)`.as('crashes')])
      .where('run.instance_id', '=', hole('instance'))
      .groupBy('task.system'),
  )
  return { selectOne, selectOfTask, selectPage, selectOpenOf, selectQueuedOf, selectDue, countOpen, countOpenOf }
}
