// What stands above a task. Groups start with the first of their tasks, and a failed one is open again when one of its tasks is. Below a
// canceled task everything has ended for good: nothing there starts, is tried again or is added.

import { ErrandError } from '../core/errors.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { NewTask, Op, Reads, Tx } from '../ledger/ledger.ts'
import { isStuckGroup } from '../machines/family.ts'
import type { StepContext } from './step-context.ts'
import { walk, walkToWorking } from './walk.ts'

/** A child starts: the groups above it that have not started do. */
export function* startGroupsAbove(tx: Tx, child: TaskRecord, ctx: StepContext): Op<void> {
  for (let id = child.parentId; id !== null; ) {
    const parent: TaskRecord | undefined = yield* tx.task.get(id)
    if (!parent?.group || parent.status !== 'submitted') return
    yield* walkToWorking(tx, parent, ctx)
    id = parent.parentId
  }
}

/** A deadline that has passed must not end a new attempt at once. */
export function futureDeadline({ deadline }: Pick<TaskRecord, 'deadline'>, at: number): number | null {
  return deadline !== null && deadline > at ? deadline : null
}

/**
 * A child is tried again, or is new: the failed groups above it are open again. Resolves to these. One in which nothing could move
 * is opened by what can, when that is judged.
 */
export function* reviveGroupsAbove(tx: Tx, { parentId }: NewTask, ctx: StepContext): Op<TaskRecord[]> {
  const parent = parentId === null ? undefined : yield* tx.task.get(parentId)
  return parent === undefined || isStuckGroup(parent) ? [] : yield* reviveGroups(tx, parent, ctx)
}

/** Opens a failed group again, and the failed groups around it up to one in which nothing could move. */
export function* reviveGroups(tx: Tx, innermost: TaskRecord, ctx: StepContext): Op<TaskRecord[]> {
  const revived: TaskRecord[] = []
  for (let group: TaskRecord | undefined = innermost; group?.group && group.status === 'failed'; ) {
    const set = { attempt: group.attempt + 1, error: null, deadline: futureDeadline(group, ctx.at) }
    revived.push(yield* walk(tx, group, 'retry', ctx, { set }))
    group = group.parentId === null ? undefined : yield* tx.task.get(group.parentId)
    if (group !== undefined && isStuckGroup(group)) break
  }
  return revived
}

/** The topmost canceled task above this one: what had settled before the cancel has kept its state, so those above are asked. */
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
