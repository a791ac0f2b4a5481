// Finds a task by an id, a prefix of an id, or `#seq`.

import { ErrandError } from '../core/errors.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'

const idPattern = /^task-[a-z0-9]+$/

/** @throws ErrandError INVALID_INPUT { candidates } when several ids begin with the prefix. */
export function* findTask(tx: Reads, ref: string): Op<TaskRecord | undefined> {
  if (/^#\d+$/.test(ref)) {
    const bySeq = yield* tx.task.getBySeq(Number(ref.slice(1)))
    return bySeq?.deletedAt === null ? bySeq : undefined
  }
  const prefix = ref.startsWith('task-') ? ref : `task-${ref}`
  if (!idPattern.test(prefix)) return undefined
  const found = yield* tx.task.findByPrefix(prefix, 10)
  const exact = found.find((task) => task.id === prefix)
  if (exact || found.length <= 1) return exact ?? found[0]
  throw new ErrandError(
    'INVALID_INPUT',
    `"${ref}" is the beginning of several ids: ${found.map((task) => `${task.id} (${task.name})`).join(', ')}. Use more characters of the id, or the number of the task, like #3.`,
    {
      ref,
      candidates: found.map((task) => task.id),
    },
  )
}
