// Delete: the row is hidden, edges to and from it cease to block, live work is aborted first. Rows leave the file only by purge.
import { isSettled, type TaskRecord } from '../entities/task.ts'
import { ErrandError } from '../errors.ts'
import type { Op, Step, Tx } from '../ledger/ledger.ts'
import { nextStatus } from '../machines/task-machine.ts'
import { touched } from '../machines/task-transition.ts'
import { cancelAll } from './cancel.ts'
import { eventOf, type Moment } from './moment.ts'
import { releaseEdge, settleFamily, settleParent } from './settle-family.ts'

export type ChildrenPolicy = 'promote' | 'cascade' | 'refuse'

interface Loaded {
  task: TaskRecord | undefined
  children: TaskRecord[]
}

/** Resolves to false for a task that is not there. */
export function deleteTask(id: string, policy: ChildrenPolicy, moment: Moment): Step<Loaded, Loaded, boolean> {
  return {
    name: 'delete',
    *load(tx): Op<Loaded> {
      return { task: yield* tx.task.get(id), children: yield* tx.task.children(id) }
    },
    judge(loaded) {
      if (policy === 'refuse' && loaded.task?.deletedAt === null && loaded.children.length > 0) {
        throw new ErrandError(
          'HAS_CHILDREN',
          `Cannot delete ${id}: it has ${loaded.children.length} children. Delete with children: 'promote' (they become roots) or 'cascade'.`,
          { taskId: id, children: loaded.children.map((child) => child.id) },
        )
      }
      return loaded
    },
    *write(tx, { task, children }): Op<boolean> {
      if (!task || task.deletedAt !== null) return false
      if (policy === 'cascade') {
        // Deepest first, so that no parent is settled by the deletion of its children on the way.
        for (const below of (yield* tx.task.subtree(id)).reverse()) yield* hide(tx, below, id, moment)
      } else {
        for (const child of children) yield* promote(tx, child, moment)
      }
      yield* hide(tx, task, id, moment)
      const parent = task.parentId === null ? undefined : yield* settleParent(tx, task.parentId, moment)
      if (parent) yield* settleFamily(tx, [parent], moment)
      return true
    },
  }
}

function* promote(tx: Tx, child: TaskRecord, moment: Moment): Op<void> {
  const root = touched(child, moment.at, { parentId: null })
  yield* tx.task.saveDefinition(root)
  yield* tx.event.append(eventOf(moment, 'task.promoted', root, { from: child.parentId }))
}

function* hide(tx: Tx, task: TaskRecord, root: string, moment: Moment): Op<void> {
  // Hidden before it is canceled: a deleted child is no reason for its group to fail.
  const hidden = touched(task, moment.at, { deletedAt: moment.at })
  yield* tx.task.saveDefinition(hidden)
  if (nextStatus(task.status, 'cancel') !== undefined) yield* cancelAll(tx, [hidden], 'deleted', root, moment)
  yield* tx.event.append(eventOf(moment, 'task.deleted', hidden, { settled: isSettled(task.status), run: task.run }))
  for (const edge of yield* tx.dependency.dependents(task.id)) yield* releaseEdge(tx, edge, hidden, moment)
}
