// The ancestors of a task. A group starts with the first of its tasks, and a failed group reopens when one of its tasks does. Below a
// canceled task everything has ended for good: nothing there is started, retried or added.

import { ErrandError } from '../../core/errors.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { NewTask, Op, Reads, Tx } from '../../ledger/ledger.ts'
import { isStuckGroup } from '../../machines/family.ts'
import { Cascade } from './cascade.ts'
import { passToWorking, sendEvent } from './send-event.ts'
import type { StepContext } from './step-context.ts'

/** A child starts: so do the groups above it that have not started. */
export function* startGroupsAbove(tx: Tx, child: TaskRecord, ctx: StepContext): Op<void> {
  for (let id = child.parentId; id !== null; ) {
    const parent: TaskRecord | undefined = yield* tx.task.get(id)
    if (!parent?.group || parent.status !== 'submitted') return
    yield* passToWorking(tx, parent, ctx)
    id = parent.parentId
  }
}

/** A deadline that has passed must not end a new attempt at once. */
export function futureDeadline({ deadline }: Pick<TaskRecord, 'deadline'>, at: number): number | null {
  return deadline !== null && deadline > at ? deadline : null
}

/**
 * A child is retried or new: the failed groups above it reopen and are returned. A group in which nothing could move reopens later, when
 * its tasks are judged.
 */
export function* reviveGroupsAbove(tx: Tx, { parentId }: NewTask, ctx: StepContext): Op<TaskRecord[]> {
  const parent = parentId === null ? undefined : yield* tx.task.get(parentId)
  return parent === undefined || isStuckGroup(parent) ? [] : yield* reviveGroups(tx, parent, ctx)
}

/** Reopens a failed group and the failed groups around it, up to one in which nothing could move. */
export function* reviveGroups(tx: Tx, innermost: TaskRecord, ctx: StepContext): Op<TaskRecord[]> {
  const revived: TaskRecord[] = []
  for (let group: TaskRecord | undefined = innermost; group?.group && group.status === 'failed'; ) {
    const set = { attempt: group.attempt + 1, error: null, deadline: futureDeadline(group, ctx.at) }
    revived.push(yield* sendEvent(tx, group, { type: 'retry', set }, new Cascade(), ctx))
    group = group.parentId === null ? undefined : yield* tx.task.get(group.parentId)
    if (group !== undefined && isStuckGroup(group)) break
  }
  return revived
}

/** Returns the topmost canceled ancestor. Tasks that had settled before the cancel kept their state, so all ancestors are checked. */
export function* canceledAbove(tx: Reads, id: string): Op<TaskRecord | undefined> {
  return (yield* tx.task.ancestors(id)).findLast((above) => above.status === 'canceled')
}

export function belowCanceled(what: string, { id, name }: TaskRecord, parentId: string | null): ErrandError {
  return new ErrandError(
    'PARENT_CLOSED',
    `Cannot ${what}: ${id} (${name}), which it is below, was canceled, and nothing below starts again. Create a new task elsewhere.`,
    { parentId, status: 'canceled', canceled: id },
  )
}
