// Delete: the row is hidden, edges to and from it cease to block, live work is aborted first. Rows leave the file only by purge.
import { isSettled, type TaskRecord } from '../entities/task.ts'
import { ErrandError } from '../errors.ts'
import type { Op, Step, Tx } from '../ledger/ledger.ts'
import { nextStatus } from '../machines/task-machine.ts'
import { touched } from '../machines/task-transition.ts'
import { cancelAll } from './cancel.ts'
import { eventOf, type Moment } from './moment.ts'
import { releaseEdge, settleByChildren } from './settle-family.ts'

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
      const gone = policy === 'cascade' ? [task, ...(yield* tx.task.subtree(id))] : [task]
      if (policy !== 'cascade') for (const child of children) yield* promote(tx, child, moment)
      yield* hide(tx, gone, id, moment)
      if (task.parentId !== null) yield* settleByChildren(tx, task.parentId, moment)
      return true
    },
  }
}

function* promote(tx: Tx, child: TaskRecord, moment: Moment): Op<void> {
  const root = touched(child, moment.at, { parentId: null })
  yield* tx.task.saveDefinition(root)
  yield* tx.event.append(eventOf(moment, 'task.promoted', root, { from: child.parentId }))
}

function* hide(tx: Tx, tasks: readonly TaskRecord[], root: string, moment: Moment): Op<void> {
  // All are hidden before one is canceled: a child that goes along is no reason for its group to end.
  const hidden = tasks.map((task) => touched(task, moment.at, { deletedAt: moment.at }))
  for (const task of hidden) yield* tx.task.saveDefinition(task)
  const live = hidden.filter((task) => nextStatus(task.status, 'cancel') !== undefined)
  yield* cancelAll(tx, live, 'deleted', root, moment)
  for (const { id, status } of hidden) {
    const task = (yield* tx.task.get(id)) as TaskRecord
    yield* tx.event.append(eventOf(moment, 'task.deleted', task, { settled: isSettled(status), run: task.run }))
    for (const edge of yield* tx.dependency.dependents(id)) yield* releaseEdge(tx, edge, task, moment)
  }
}
