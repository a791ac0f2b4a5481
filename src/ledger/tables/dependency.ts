// The dependency table: which task waits for which, once and for all; open edges are those without a time of satisfaction.
import type { DependencyKind, DependencyRecord } from '../../entities/dependency.ts'
import type { Tx } from '../ledger.ts'
import type { DependencyTableRow } from '../schema.ts'
import { change, row, rows, type StatementCompiler, sql } from '../statement.ts'

export const toDependencyRecord = (stored: DependencyTableRow): DependencyRecord => ({
  taskId: stored.task_id,
  blockerId: stored.blocker_id,
  kind: stored.kind as DependencyKind,
  callId: stored.call_id,
  satisfiedAt: stored.satisfied_at,
  createdAt: stored.created_at,
})

/** The condition of the partial index over waits: in the text, so that the planner sees that it serves. */
const aWait = sql<boolean>`kind = 'wait'`

export function createDependencyTable(compiler: StatementCompiler): Tx['dependency'] {
  const { prepare } = compiler
  const selectOpenBlockers = prepare((db, hole) =>
    db
      .selectFrom('dependency')
      .select('blocker_id')
      .where('task_id', '=', hole('task'))
      .where('kind', '=', 'after')
      .where('satisfied_at', 'is', null)
      .orderBy('position', 'asc'),
  )
  const selectBlockers = prepare((db, hole) =>
    db
      .selectFrom('dependency')
      .select('blocker_id')
      .where('task_id', '=', hole('task'))
      .where('kind', '=', 'after')
      .orderBy('position', 'asc'),
  )
  const selectStuckBehind = prepare((db, hole) =>
    db
      .selectFrom('dependency')
      .innerJoin('task', 'task.id', 'dependency.blocker_id')
      .select('blocker_id as id')
      .where('dependency.task_id', '=', hole('task'))
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
  const selectDependents = prepare((db, hole) =>
    db.selectFrom('dependency').selectAll().where('blocker_id', '=', hole('blocker')).where('satisfied_at', 'is', null),
  )
  const selectOpenWaits = prepare((db, hole) =>
    db
      .selectFrom('dependency')
      .selectAll()
      .where(aWait)
      .where('call_id', '=', hole('call'))
      .where('satisfied_at', 'is', null),
  )
  const selectAnyOpenWait = prepare((db, hole) =>
    db
      .selectFrom('dependency')
      .select('task_id')
      .where(aWait)
      .where('call_id', '=', hole('call'))
      .where('satisfied_at', 'is', null)
      .limit(1),
  )
  const selectWaitedFor = prepare((db, hole) =>
    db
      .selectFrom('dependency')
      .select('blocker_id as id')
      .where('task_id', '=', hole('task'))
      .where('satisfied_at', 'is', null),
  )
  // A parent waits for its children when it is a group, or when they complete it; for a failed one from its retry on.
  const selectWaitedChildren = prepare((db, hole) =>
    db
      .selectFrom('task as child')
      .innerJoin('task as parent', 'parent.id', 'child.parent_id')
      .select('child.id as id')
      .where('child.parent_id', '=', hole('task'))
      .where((where) => where.or([where('child.completed_at', 'is', null), where('child.status', '=', 'failed')]))
      .where('child.deleted_at', 'is', null)
      .where((where) =>
        where.or([
          where('parent.is_group', '=', 1),
          where('parent.policy', 'like', '%"autoComplete":true%'),
          where('parent.policy', 'like', '%"autoComplete":"all-settled"%'),
        ]),
      ),
  )
  const insertEdge = prepare((db, hole) =>
    db.insertInto('dependency').values({
      task_id: hole('task'),
      blocker_id: hole('blocker'),
      kind: hole('kind'),
      call_id: hole('call'),
      position: sql`(select coalesce(max(position), -1) + 1 from dependency where task_id = ${hole('task')})`,
      satisfied_at: hole('satisfied'),
      created_at: hole('created'),
    } as never),
  )
  const updateSatisfied = prepare((db, hole) =>
    db
      .updateTable('dependency')
      .set({ satisfied_at: hole('at') })
      .where('task_id', '=', hole('task'))
      .where('blocker_id', '=', hole('blocker'))
      .where('call_id', '=', hole('call'))
      .where('satisfied_at', 'is', null),
  )
  const updateSatisfiedWaits = prepare((db, hole) =>
    db
      .updateTable('dependency')
      .set({ satisfied_at: hole('at') })
      .where(aWait)
      .where('call_id', '=', hole('call'))
      .where('satisfied_at', 'is', null),
  )
  // Only for waits that nobody has taken up: a closed entry waits for nothing any more.
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
      .where('task_id', '=', hole('task'))
      .where('blocker_id', '=', hole('blocker'))
      .where('kind', '=', 'after'),
  )

  return {
    *openBlockers(task) {
      return (yield* rows<{ blocker_id: string }>(selectOpenBlockers, { task })).map((edge) => edge.blocker_id)
    },
    *stuckBehind(task) {
      return (yield* row<{ id: string }>(selectStuckBehind, { task }))?.id
    },
    *blockers(task) {
      return (yield* rows<{ blocker_id: string }>(selectBlockers, { task })).map((edge) => edge.blocker_id)
    },
    *dependents(blocker) {
      return (yield* rows<DependencyTableRow>(selectDependents, { blocker })).map(toDependencyRecord)
    },
    *openWaits(call) {
      return (yield* rows<DependencyTableRow>(selectOpenWaits, { call })).map(toDependencyRecord)
    },
    *hasOpenWaits(call) {
      return (yield* rows(selectAnyOpenWait, { call })).length > 0
    },
    *path(from, targets) {
      // Breadth first, one indexed look-up a task: shared sub-graphs are walked once, and nothing is scanned.
      const cameFrom = new Map<string, string | null>(from.map((id) => [id, null]))
      const queue = [...cameFrom.keys()]
      for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
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
    },
    *insert(edge) {
      yield* change(insertEdge, {
        task: edge.taskId,
        blocker: edge.blockerId,
        kind: edge.kind,
        call: edge.callId,
        satisfied: edge.satisfiedAt,
        created: edge.createdAt,
      })
    },
    *satisfy(edge, at) {
      yield* change(updateSatisfied, { task: edge.taskId, blocker: edge.blockerId, call: edge.callId, at })
    },
    *satisfyWaits(call, at) {
      yield* change(updateSatisfiedWaits, { call, at })
    },
    *reopenWaits(blocker) {
      yield* change(updateReopened, { blocker })
    },
    *remove(task, blocker) {
      yield* change(deleteEdge, { task, blocker })
    },
  }
}

function trace(cameFrom: ReadonlyMap<string, string | null>, end: string): string[] {
  const path: string[] = []
  for (let step: string | null = end; step !== null; step = cameFrom.get(step) ?? null) path.unshift(step)
  return path
}
