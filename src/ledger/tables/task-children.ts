// What decides whether a parent can end or move: facts about its children, each found by an index.
import { isSettled, type TaskStatus, taskStatuses } from '../../entities/task.ts'
import { ofTask } from '../columns.ts'
import type { Op, Reads } from '../ledger.ts'
import { type Holes, row, rows, type Statement, type StatementCompiler, sql } from '../statement.ts'

const liveStatuses = taskStatuses.filter((status) => !isSettled(status))

export function createChildFacts(compiler: StatementCompiler): Reads['task']['childFacts'] {
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
