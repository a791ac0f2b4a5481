// Finds a task by an id, a prefix of an id, or `#seq`.

import { ErrandError } from '../../core/errors.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { isTaskId } from '../../entities/task-id.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'

/** The maximum of ids with one beginning that a refusal names. */
const maxNamed = 10

/** @throws ErrandError INVALID_INPUT { candidates } when several ids begin with the prefix. */
export function* findTask(tx: Reads, ref: string): Op<TaskRecord | undefined> {
  if (/^#\d+$/.test(ref)) {
    const bySeq = yield* tx.task.getBySeq(Number(ref.slice(1)))
    return bySeq?.deletedAt === null ? bySeq : undefined
  }
  if (!isTaskId(ref)) return undefined
  const found: TaskRecord[] = []
  for (const prefix of ref.startsWith('task-') ? [ref] : [ref, `task-${ref}`]) {
    const some = yield* tx.task.findByPrefix(prefix, maxNamed)
    const exact = some.find((task) => task.id === prefix)
    if (exact) return exact
    for (const each of some) found.push(each)
  }
  if (found.length <= 1) return found[0]
  throw new ErrandError(
    'INVALID_INPUT',
    `"${ref}" is the beginning of several ids: ${found.map((task) => `${task.id} (${task.name})`).join(', ')}. Use more characters of the id, or the number of the task, like #3.`,
    {
      ref,
      candidates: found.map((task) => task.id),
    },
  )
}
