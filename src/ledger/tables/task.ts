// The task table: one task by its keys, and all writes. Lists are in task-list.ts, the queue of admission in task-ready.ts.

import { isSettled, type TaskStatus, taskStatuses } from '../../entities/task.ts'
import type { Op, Reads, Tx } from '../ledger.ts'
import { type Holes, row, rows, type Statement, type StatementCompiler, sql, write } from '../statement.ts'
import { flag, jsonOrNull, ofTask, plain, statementsOf } from '../table-mapping.ts'
import { anyAwake } from './any-work.ts'
import { mayTimeOut, ownerOf } from './run.ts'
import { ancestorsOf } from './task-ancestors.ts'
import { createClaimable } from './task-claimable.ts'
import { definitionFields, stateFields, tasks, withBelow } from './task-columns.ts'
import { createTaskLists } from './task-list.ts'
import { createReadyTasks } from './task-ready.ts'
import { waitedTicks } from './time/schedule.ts'

const counted = { counted: true }

export function createTaskTable(compiler: StatementCompiler): Tx['task'] {
  const { dialect } = compiler
  const { selectRow, select, finds, inserts, saves } = statementsOf(compiler, tasks)
  const selectById = selectRow('id')
  const selectByPrefix = select((task, hole) =>
    task
      .where('id', '>=', hole('from'))
      .where('id', '<', hole('to'))
      .where('deleted_at', 'is', null)
      .limit(hole('limit')),
  )
  const { updateFreed, updateChildCount, updateMadeBelow, updateLanes, updateDepthBelow } = updates(compiler)
  const saveStuck = saves({ stuckBy: plain }, ['id'])

  return {
    ...createTaskLists(compiler),
    ...createReadyTasks(compiler, selectById),
    ...createDueTasks(compiler),
    get: (id) => tasks.one(selectById, { id }),
    getBySeq: finds('seq'),
    getByKey: finds('key'),
    findByPrefix: (prefix, limit) => tasks.list(selectByPrefix, { from: prefix, to: `${prefix}\u{10ffff}`, limit }),
    claimable: createClaimable(compiler, selectById),
    childFacts: createChildFacts(compiler),
    ancestors: (id) => ancestorsOf(selectById, id),
    anyAwake: (executors, named = [], trees, withSystem = false) =>
      anyAwake(dialect, executors, named, { trees, withSystem }),
    insert: inserts(['id'], 'tasks'),
    freeKey: (key) => write(updateFreed, { key }),
    save: saves(stateFields, ['id'], counted),
    addChildren: (id, added) => write(updateChildCount, { id, added }),
    addMade: (id, made) => write(updateMadeBelow, { id, made }),
    setLanes: (parent, lane) => write(updateLanes, { parent, lane }),
    raise: (root, by) => write(updateDepthBelow, { root, by }),
    saveDefinition: saves({ ...definitionFields, ready: flag, claimable: flag, updatedAt: plain }, ['id'], counted),
    saveProgress: saves({ progress: jsonOrNull, updatedAt: plain }, ['id'], counted),
    setStuck: (id, stuckBy) => saveStuck({ id, stuckBy }),
  }
}

function updates({ prepare, prepareText }: StatementCompiler) {
  const updateFreed = prepare((db, hole) => db.updateTable('task').set({ key: null }).where('key', '=', hole('key')))
  const updateChildCount = prepare((db, hole) =>
    db
      .updateTable('task')
      .set({ child_count: sql<number>`child_count + ${hole('added')}` })
      .where('id', '=', hole('id', ofTask)),
  )
  const updateMadeBelow = prepare((db, hole) =>
    db
      .updateTable('task')
      .set({ made_below: sql<number>`made_below + ${hole('made')}` })
      .where('id', '=', hole('id', ofTask)),
  )
  const updateLanes = prepare((db, hole) =>
    db
      .updateTable('task')
      .set({ lane: hole('lane') })
      .where('parent_id', '=', hole('parent'))
      .where('executor', 'is not', null)
      .where('system', '=', 0),
  )
  const updateDepthBelow = prepareText(
    { changes: 'task' },
    (hole) => sql`${withBelow(hole('root'))}
      update task set depth = depth - ${hole('by')} where id in (select id from below)`,
  )
  return { updateFreed, updateChildCount, updateMadeBelow, updateLanes, updateDepthBelow }
}

// Tasks whose time has come: a lease, a deadline or a `notBefore`; and when the next timer is due, those of calls and runs included.

function createDueTasks(compiler: StatementCompiler): Pick<Reads['task'], 'lapsed' | 'late' | 'due' | 'nextDue'> {
  const { prepareText, dialect } = compiler
  const { select } = statementsOf(compiler, tasks)
  const selectReached = (column: 'lease_until' | 'not_before') =>
    select('overdue', (task, hole) =>
      task.where(column, 'is not', null).where(column, '<=', hole('now')).orderBy(column, 'asc').limit(hole('limit')),
    )
  const selectLate = select('overdue', (task, hole) =>
    task
      .where(sql<boolean>`deadline is not null and completed_at is null`)
      .where('deadline', '<=', hole('now'))
      .orderBy('deadline', 'asc')
      .limit(hole('limit')),
  )
  // One statement: the engine asks for it after almost every commit. Each of its parts reads one entry of a partial index.
  const selectSoonest = prepareText(
    'queue',
    (hole) => sql`select min(at) as at from (
      select min(not_before) as at from task where not_before is not null
      union all select min(lease_until) from task where lease_until is not null
      union all select min(deadline) from task where deadline is not null and completed_at is null
      union all select min(due_at) from call where due_at is not null
      union all select min(next_at) from schedule where next_at is not null
      union all select at from (select queued_tick as at from ${waitedTicks} limit 1) as waited_tick
      union all select at from (
        select run.due_at as at from run join task on task.id = run.task_id where ${mayTimeOut(dialect, hole)}
        order by run.due_at limit 1
      ) as run_of_this_engine
    ) as soonest`,
  )
  const selectLapsed = selectReached('lease_until')
  const selectDue = selectReached('not_before')

  return {
    lapsed: (now, limit) => tasks.list(selectLapsed, { now, limit }),
    late: (now, limit) => tasks.list(selectLate, { now, limit }),
    due: (now, limit) => tasks.list(selectDue, { now, limit }),
    *nextDue(own) {
      return (yield* row<{ at: number | null }>(selectSoonest, ownerOf(own)))?.at ?? undefined
    },
  }
}

// What decides whether a parent can end or move: facts about its children, each found by an index.

const liveStatuses = taskStatuses.filter((status) => !isSettled(status))

function createChildFacts(compiler: StatementCompiler): Reads['task']['childFacts'] {
  const { anyChild, liveChild, failedChild, canceledChild, movableChild, stuckParents } = childStatements(compiler)

  function* firstId(statement: Statement, parent: string): Op<string | null> {
    return (yield* row<{ id: string }>(statement, { parent }))?.id ?? null
  }

  /** A stuck task cannot move, but its children may. */
  function* canMoveBelow(parent: string): Op<boolean> {
    const parents = [parent]
    for (const id of parents) {
      if ((yield* row(movableChild, { parent: id })) !== undefined) return true
      for (const stuck of yield* rows<{ id: string }>(stuckParents, { parent: id })) parents.push(stuck.id)
    }
    return false
  }

  return function* childFacts(parent) {
    if (yield* canMoveBelow(parent)) return { any: true, live: true, movable: true, stuck: null, broken: null }
    const stuck = yield* firstId(liveChild, parent)
    const broken = (yield* firstId(failedChild, parent)) ?? (yield* firstId(canceledChild, parent))
    const any = stuck !== null || broken !== null || (yield* row(anyChild, { parent })) !== undefined
    return { any, live: stuck !== null, movable: false, stuck, broken }
  }
}

function childStatements({ prepare, dialect }: StatementCompiler) {
  const childIds = (db: typeof dialect.db, hole: Holes) =>
    db.selectFrom('task').select('id').where('parent_id', '=', hole('parent', ofTask)).where('deleted_at', 'is', null)
  // States are listed, not excluded, so that the index finds the first match past any number of settled siblings.
  const oneChild = (statuses: readonly TaskStatus[]) =>
    prepare((db, hole) =>
      childIds(db, hole)
        .where('status', 'in', [...statuses])
        .limit(1),
    )
  const anyChild = oneChild(taskStatuses)
  const liveChild = oneChild(liveStatuses)
  const failedChild = oneChild(['failed'])
  const canceledChild = oneChild(['canceled'])
  const movableChild = prepare((db, hole) =>
    childIds(db, hole).where('completed_at', 'is', null).where('stuck_by', 'is', null).limit(1),
  )
  const stuckParents = prepare((db, hole) =>
    childIds(db, hole)
      .where('completed_at', 'is', null)
      .where('stuck_by', 'is not', null)
      .where(sql<boolean>`child_count > 0`),
  )
  return { anyChild, liveChild, failedChild, canceledChild, movableChild, stuckParents }
}
