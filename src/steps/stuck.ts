// Tasks that are stuck: each waits, directly or through others, for one that failed or was canceled. The row says behind which
// (`stuckBy`), so that a group learns with one look-up whether anything in it can still move. Whatever waits for a person, a claim,
// a timer, a slot, an executor or `run.wait` can; and so can a stuck task that has a child which can.

import type { StoredError } from '../core/errors.ts'
import { isSettled, type TaskRecord } from '../entities/task.ts'
import type { Op, Reads, Tx } from '../ledger/ledger.ts'
import { awaitsChildren, isBroken } from '../machines/family.ts'

interface Ids {
  add(id: string): unknown
}

/** Ids, each taken up in its turn; one that waits already does not wait twice. */
export class Turns {
  readonly #ids: string[]
  readonly #waiting: Set<string>
  // By position: to shift a hundred thousand entries one by one would be quadratic.
  #at = 0

  constructor(ids: Iterable<string> = []) {
    this.#waiting = new Set(ids)
    this.#ids = [...this.#waiting]
  }

  add(id: string): void {
    if (this.#waiting.has(id)) return
    this.#waiting.add(id)
    this.#ids.push(id)
  }

  next(): string | undefined {
    const id = this.#ids[this.#at]
    if (id === undefined) return undefined
    this.#at++
    this.#waiting.delete(id)
    return id
  }
}

/** Tasks to judge anew. */
export interface Concerned {
  /** They may be stuck now, or no longer. */
  tasks: Ids
  /** A child of theirs may be able to move now, or no longer. */
  parents: Ids
}

/**
 * Judges anew whether a task is stuck, and notes those that this concerns; behind which task it is. A group has no work of its own that
 * could be.
 */
export function* judgeTask(tx: Tx, task: TaskRecord, concerned: Concerned): Op<string | null> {
  if (task.group) return null
  const by = yield* stuckBehind(tx, task)
  if (by === task.stuckBy) return by
  yield* tx.task.setStuck(task.id, by)
  // Another reason for the same is news to nobody.
  if (by === null || task.stuckBy === null) yield* noteConcerned(tx, task, concerned)
  return by
}

/** Notes those that wait for a task: who comes after it, and its parent. */
export function* noteConcerned(tx: Reads, { id, parentId }: TaskRecord, concerned: Concerned): Op<void> {
  for (const { kind, taskId } of yield* tx.dependency.dependents(id)) if (kind === 'after') concerned.tasks.add(taskId)
  if (parentId !== null) concerned.parents.add(parentId)
}

/** The blocker, or for a task that only awaits its children the child, that keeps it from moving. */
function* stuckBehind(tx: Reads, task: TaskRecord): Op<string | null> {
  if (isSettled(task.status) || task.deletedAt !== null) return null
  const blocker = task.openBlockers === 0 ? undefined : yield* tx.dependency.stuckBehind(task.id)
  if (blocker !== undefined || !awaitsChildren(task)) return blocker ?? null
  const children = yield* tx.task.childFacts(task.id)
  return children.movable ? null : (children.stuck ?? children.broken)
}

/** Why a group fails in which nothing can move: what one of its tasks waits for in the end. */
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
    message: `Nothing in it can move: ${task.id} (${task.name}) waits for ${cause.id} (${cause.name}), which ${ended}`,
    details: { cause: cause.id, task: task.id },
  }
}
