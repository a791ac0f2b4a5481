// Paths through the graph of waiting tasks, to find waits that would never end.
import { openStatuses } from '../../entities/task.ts'
import type { Reads } from '../ledger.ts'
import { rows, type StatementCompiler } from '../statement.ts'
import { ofTask } from '../table-mapping.ts'

export function createPathSearch({ prepare }: StatementCompiler): Reads['dependency']['path'] {
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
