// The task table: one task by its keys, and all writes. Lists are in task-list.ts, the queue of admission in task-ready.ts.
import { flag, jsonOrNull, ofTask, plain, statementsOf } from '../columns.ts'
import type { Tx } from '../ledger.ts'
import { type StatementCompiler, sql, write } from '../statement.ts'
import { ancestorsOf } from './task-ancestors.ts'
import { anyAwake } from './task-awake.ts'
import { createChildFacts } from './task-children.ts'
import { createClaimable } from './task-claimable.ts'
import { definitionFields, stateFields, tasks, withBelow } from './task-columns.ts'
import { createDueTasks } from './task-due.ts'
import { createTaskLists } from './task-list.ts'
import { createReadyTasks } from './task-ready.ts'

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
    anyAwake: (executors, named = [], trees) => anyAwake(dialect, executors, named, trees),
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
      .where('executor', 'is not', null),
  )
  const updateDepthBelow = prepareText(
    { changes: 'task' },
    (hole) => sql`${withBelow(hole('root'))}
      update task set depth = depth - ${hole('by')} where id in (select id from below)`,
  )
  return { updateFreed, updateChildCount, updateMadeBelow, updateLanes, updateDepthBelow }
}
