// The tasks above one, read one by one: each is an indexed look-up, and a cycle of parents, which errand never writes, ends the read.
import type { TaskRecord } from '../../entities/task.ts'
import type { Op } from '../ledger.ts'
import type { Statement } from '../statement.ts'
import { tasks } from './task-columns.ts'

export function* ancestorsOf(selectById: Statement, id: string): Op<TaskRecord[]> {
  const above = new Map<string, TaskRecord>()
  let parentId = (yield* tasks.one(selectById, { id }))?.parentId ?? null
  while (parentId !== null && !above.has(parentId)) {
    const parent: TaskRecord | undefined = yield* tasks.one(selectById, { id: parentId })
    if (parent === undefined) break
    above.set(parentId, parent)
    parentId = parent.parentId
  }
  return [...above.values()]
}

/** Whether a task, or one above it, matches. `known` keeps the answers for tasks that were read before. */
export function* liesIn(
  selectById: Statement,
  id: string | null,
  isMatch: (task: TaskRecord) => boolean,
  known: Map<string, boolean>,
): Op<boolean> {
  const path: string[] = []
  let at = id
  let verdict = false
  while (at !== null) {
    verdict = known.get(at) ?? false
    if (known.has(at)) break
    known.set(at, false)
    path.push(at)
    const task: TaskRecord | undefined = yield* tasks.one(selectById, { id: at })
    verdict = task !== undefined && isMatch(task)
    if (verdict) break
    at = task?.parentId ?? null
  }
  for (const each of path) known.set(each, verdict)
  return verdict
}
