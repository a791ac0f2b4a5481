// The dependency table: which task waits for which, recorded once; open edges have no time of satisfaction.

import { openStatuses } from '../../entities/task.ts'
import type { Reads, Tx } from '../ledger.ts'
import { column, type Holes, row, rows, type StatementCompiler, sql, write } from '../statement.ts'
import { defineTable, ofCall, ofTask, plain, statementsOf } from '../table-mapping.ts'

export const dependencies = defineTable('dependency', {
  taskId: ofTask,
  blockerId: ofTask,
  kind: plain,
  callId: plain,
  satisfiedAt: plain,
  createdAt: plain,
})

/** The condition of the partial index over waits, part of the text because the planner uses the index only then. */
const aWait = sql<boolean>`kind = 'wait'`

export function createDependencyTable(compiler: StatementCompiler): Tx['dependency'] {
  const { insert } = statementsOf(compiler, dependencies)
  const { selectBlockers, selectOpenBlockers, selectStuckBehind } = blockerStatements(compiler)
  const { selectDependents, selectOpenWaits, selectAnyOpenWait } = edgeStatements(compiler)
  const insertEdge = insert(undefined, (hole) => ({
    position: sql`(select coalesce(max(position), -1) + 1 from dependency where task_id = ${hole('taskId')})`,
  }))
  const { updateSatisfied, updateSatisfiedWaits, updateReopened, deleteEdge } = updateStatements(compiler)

  return {
    openBlockers: (task) => column(selectOpenBlockers, { task }),
    *stuckBehind(task) {
      return (yield* row<{ id: string }>(selectStuckBehind, { task }))?.id
    },
    blockers: (task) => column(selectBlockers, { task }),
    dependents: (blocker, limit = Number.MAX_SAFE_INTEGER) => dependencies.list(selectDependents, { blocker, limit }),
    openWaits: (call) => dependencies.list(selectOpenWaits, { call }),
    *hasOpenWaits(call) {
      return (yield* rows(selectAnyOpenWait, { call })).length > 0
    },
    path: createPathSearch(compiler),
    insert: (edge) => write(insertEdge, edge),
    satisfy: (edge, at) => write(updateSatisfied, { ...edge, at }),
    satisfyWaits: (call, at) => write(updateSatisfiedWaits, { call, at }),
    reopenWaits: (blocker) => write(updateReopened, { blocker }),
    remove: (task, blocker) => write(deleteEdge, { task, blocker }),
  }
}

function blockerStatements(compiler: StatementCompiler) {
  const { prepare, dialect } = compiler
  const blockersOf = (db: typeof dialect.db, hole: Holes) =>
    db
      .selectFrom('dependency')
      .select('blocker_id')
      .where('task_id', '=', hole('task', ofTask))
      .where('kind', '=', 'after')
      .orderBy('position', 'asc')
  const selectBlockers = prepare(blockersOf)
  const selectOpenBlockers = prepare((db, hole) => blockersOf(db, hole).where('satisfied_at', 'is', null))
  const selectStuckBehind = prepare('neighbours', (db, hole) =>
    db
      .selectFrom('dependency')
      .innerJoin('task', 'task.id', 'dependency.blocker_id')
      .select('blocker_id as id')
      .where('dependency.task_id', '=', hole('task', ofTask))
      .where('kind', '=', 'after')
      .where('satisfied_at', 'is', null)
      .where('task.deleted_at', 'is', null)
      .where((where) =>
        where.or([
          where('task.status', 'in', ['failed', 'canceled']),
          where.and([where('task.stuck_by', 'is not', null), where('task.completed_at', 'is', null)]),
        ]),
      )
      .orderBy('position', 'asc')
      .limit(1),
  )
  return { selectBlockers, selectOpenBlockers, selectStuckBehind }
}

function edgeStatements(compiler: StatementCompiler) {
  const { prepare } = compiler
  const { select } = statementsOf(compiler, dependencies)
  const selectDependents = select((edge, hole) =>
    edge.where('blocker_id', '=', hole('blocker', ofTask)).where('satisfied_at', 'is', null).limit(hole('limit')),
  )
  const selectOpenWaits = select((edge, hole) =>
    edge.where(aWait).where('call_id', '=', hole('call', ofCall)).where('satisfied_at', 'is', null),
  )
  const selectAnyOpenWait = prepare((db, hole) =>
    db
      .selectFrom('dependency')
      .select('task_id')
      .where(aWait)
      .where('call_id', '=', hole('call', ofCall))
      .where('satisfied_at', 'is', null)
      .limit(1),
  )
  return { selectDependents, selectOpenWaits, selectAnyOpenWait }
}

function updateStatements(compiler: StatementCompiler) {
  const { prepare } = compiler
  const updateSatisfied = prepare((db, hole) =>
    db
      .updateTable('dependency')
      .set({ satisfied_at: hole('at') })
      .where('task_id', '=', hole('taskId', ofTask))
      .where('blocker_id', '=', hole('blockerId', ofTask))
      .where('call_id', '=', hole('callId'))
      .where('satisfied_at', 'is', null),
  )
  const updateSatisfiedWaits = prepare((db, hole) =>
    db
      .updateTable('dependency')
      .set({ satisfied_at: hole('at') })
      .where(aWait)
      .where('call_id', '=', hole('call', ofCall))
      .where('satisfied_at', 'is', null),
  )
  // Only waits whose entry is open: a closed entry waits for nothing. The entries may be of any task.
  const updateReopened = prepare((db, hole) =>
    db
      .updateTable('dependency')
      .set({ satisfied_at: null })
      .where(aWait)
      .where('blocker_id', '=', hole('blocker'))
      .where('call_id', 'in', (waits) =>
        waits
          .selectFrom('call')
          .select('call.id')
          .where('call.status', '=', 'pending')
          .whereRef('call.id', '=', 'dependency.call_id'),
      ),
  )
  const deleteEdge = prepare((db, hole) =>
    db
      .deleteFrom('dependency')
      .where('task_id', '=', hole('task', ofTask))
      .where('blocker_id', '=', hole('blocker', ofTask))
      .where('kind', '=', 'after'),
  )
  return { updateSatisfied, updateSatisfiedWaits, updateReopened, deleteEdge }
}

// Paths through the graph of waiting tasks, to find waits that would never end.

function createPathSearch({ prepare }: StatementCompiler): Reads['dependency']['path'] {
  const selectWaitedFor = prepare((db, hole) =>
    db
      .selectFrom('dependency')
      .select('blocker_id as id')
      .where('task_id', '=', hole('task', ofTask))
      .where('satisfied_at', 'is', null),
  )
  // A parent waits for its children if it is a group, or if they complete it; for a failed child, from its retry on.
  const selectWaitedChildren = prepare((db, hole) =>
    db
      .selectFrom('task as child')
      .innerJoin('task as parent', 'parent.id', 'child.parent_id')
      .select('child.id as id')
      .where('child.parent_id', '=', hole('task', ofTask))
      // States are listed, so that the index passes over children that completed.
      .where('child.status', 'in', [...openStatuses, 'failed'])
      .where('child.deleted_at', 'is', null)
      .where((where) =>
        where.or([
          where('parent.is_group', '=', 1),
          where('parent.policy', 'like', '%"autoComplete":true%'),
          where('parent.policy', 'like', '%"autoComplete":"all-settled"%'),
        ]),
      ),
  )
  return function* path(from, targets) {
    // Breadth first, with indexed look-ups for each task: shared sub-graphs are read once, and nothing is scanned.
    const cameFrom = new Map<string, string | null>(from.map((id) => [id, null]))
    const queue = [...cameFrom.keys()]
    for (const id of queue) {
      if (targets.has(id)) return trace(cameFrom, id)
      const blockers = yield* rows<{ id: string }>(selectWaitedFor, { task: id })
      const children = yield* rows<{ id: string }>(selectWaitedChildren, { task: id })
      for (const reached of [...blockers, ...children]) {
        if (cameFrom.has(reached.id)) continue
        cameFrom.set(reached.id, id)
        queue.push(reached.id)
      }
    }
    return undefined
  }
}

function trace(cameFrom: ReadonlyMap<string, string | null>, end: string): string[] {
  const path: string[] = []
  for (let step: string | null = end; step !== null; step = cameFrom.get(step) ?? null) path.unshift(step)
  return path
}
