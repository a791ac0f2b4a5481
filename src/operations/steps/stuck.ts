// Tasks that are stuck: each waits, directly or through others, for a task that failed or was canceled. The row records which one
// (`stuckBy`), so that one look-up shows whether anything in a group can still move. A task that waits for a person, a claim, a timer, a
// slot, an executor or `run.wait` can move; so can a stuck task with a child that can.

import type { StoredError } from '../../core/errors.ts'
import { awaitsChildren, isSettled, type TaskRecord, titleOf } from '../../entities/task.ts'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'
import { isBroken } from '../../machines/family.ts'
import type { Cascade } from './cascade.ts'

/**
 * Judges again whether a task is stuck, and records those that this concerns. Returns the task behind which it is stuck. A group has no
 * work of its own that could be stuck.
 */
export function* judgeTask(tx: Tx, task: TaskRecord, concerned: Pick<Cascade, 'tasks' | 'parents'>): Op<string | null> {
  if (task.group) return null
  const by = yield* stuckBehind(tx, task)
  if (by === task.stuckBy) return by
  yield* tx.task.setStuck(task.id, by)
  // Another blocker changes nothing for those that wait for this task.
  if (by === null || task.stuckBy === null) yield* noteConcerned(tx, task, concerned)
  return by
}

/** Records those that wait for a task: its dependents and its parent. */
export function* noteConcerned(
  tx: Reads,
  { id, parentId }: TaskRecord,
  concerned: Pick<Cascade, 'tasks' | 'parents'>,
): Op<void> {
  for (const { kind, taskId } of yield* tx.dependency.dependents(id)) if (kind === 'after') concerned.tasks.add(taskId)
  if (parentId !== null) concerned.parents.add(parentId)
}

/** The blocker that keeps a task from moving, or, for a task that only waits for its children, the child. */
function* stuckBehind(tx: Reads, task: TaskRecord): Op<string | null> {
  if (isSettled(task.status) || task.deletedAt !== null) return null
  const blocker = task.openBlockers === 0 ? undefined : yield* tx.dependency.stuckBehind(task.id)
  if (blocker !== undefined || !awaitsChildren(task)) return blocker ?? null
  const children = yield* tx.task.childFacts(task.id)
  return children.movable ? null : (children.stuck ?? children.broken)
}

/** The error of a group in which nothing can move: the task that one of its tasks waits for in the end. */
export function* stuckError(tx: Reads, stuck: string): Op<StoredError> {
  const task = (yield* tx.task.get(stuck)) as TaskRecord
  let cause = task
  while (!isBroken(cause.status)) {
    const next: TaskRecord | undefined = yield* tx.task.get(cause.stuckBy as string)
    if (next === undefined) break
    cause = next
  }
  const ended = cause.status === 'failed' ? 'failed' : 'was canceled'
  return {
    code: 'GROUP_STUCK',
    message: `Nothing in it can move: ${titleOf(task)} waits for ${titleOf(cause)}, which ${ended}`,
    details: { cause: cause.id, task: task.id },
  }
}
