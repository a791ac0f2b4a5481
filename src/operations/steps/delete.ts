// Delete: the row is hidden, edges to and from it no longer block, and live work is aborted first. Only purge removes rows from the file.

import { ErrandError } from '../../core/errors.ts'
import { isSettled, type TaskRecord } from '../../entities/task.ts'
import { type Op, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { touched } from '../../machines/changed-task.ts'
import { nextStatus } from '../../machines/task-edges.ts'
import { cancelBelow } from './cancel-below.ts'
import { Cascade } from './cascade.ts'
import { sendEvent } from './send-event.ts'
import { settle, settleByChildren } from './settle-family.ts'
import { eventOf, refusePurged, type StepContext } from './step-context.ts'

export type ChildrenPolicy = 'promote' | 'cascade' | 'refuse'

/** Returns false when the task does not exist. */
export function deleteTask(id: string, policy: ChildrenPolicy, ctx: StepContext): Step<boolean> {
  return step('delete', function* (tx) {
    const task = yield* tx.task.get(id)
    if (!task || task.deletedAt !== null) return false
    yield* refusePurged(tx, task)
    const children = policy === 'cascade' ? [] : yield* tx.task.children(id)
    if (policy === 'refuse' && children.length > 0) {
      throw new ErrandError(
        'HAS_CHILDREN',
        `Cannot delete ${id}: it has ${children.length} children. Delete with children: 'promote' (they become roots) or 'cascade'.`,
        { taskId: id, children: children.map((child) => child.id) },
      )
    }
    for (const child of children) yield* promote(tx, child, ctx)
    yield* hide(tx, task, ctx)
    if (task.parentId !== null) yield* settleByChildren(tx, task.parentId, ctx)
    return true
  })
}

function* promote(tx: Tx, child: TaskRecord, ctx: StepContext): Op<void> {
  const root = touched(child, ctx.at, { parentId: null, lane: child.system ? child.lane : '', depth: 0 })
  yield* tx.task.saveDefinition(root)
  if (child.childCount > 0) yield* tx.task.raise(child.id, child.depth)
  yield* tx.event.append(eventOf(ctx, 'task.promoted', root, { from: child.parentId }))
}

/** Hides a task and all tasks that are still below it, canceled first. */
function* hide(tx: Tx, task: TaskRecord, ctx: StepContext): Op<void> {
  // Hidden before it is canceled: a child that is deleted must not fail its group.
  const hidden = touched(task, ctx.at, { deletedAt: ctx.at })
  yield* tx.task.saveDefinition(hidden)
  const live = nextStatus(task.status, 'cancel') !== undefined
  const cancel = { type: 'cancel' as const, set: { statusReason: 'deleted' } }
  const canceled = live ? yield* sendEvent(tx, hidden, cancel, new Cascade(), ctx) : undefined
  if (!live) yield* cancelBelow(tx, hidden, 'deleted', ctx)
  const deleted = (yield* tx.task.get(task.id)) as TaskRecord
  yield* tx.event.append(eventOf(ctx, 'task.deleted', deleted, { settled: isSettled(task.status), run: deleted.run }))
  const below = yield* tx.cascade.hide({ root: task.id, ...ctx })
  // Settled after all are hidden, and for all at once: the dependents of a hidden task are free, whatever became of it, and no group may
  // fail before that is known.
  const ended = [
    canceled === undefined ? { task: deleted, edges: yield* tx.dependency.dependents(task.id) } : { task: canceled },
  ]
  if (below) ended.push({ task: deleted, edges: yield* tx.cascade.edgesOut(below) })
  yield* settle(tx, ctx, { ended })
}
