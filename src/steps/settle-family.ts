// What a settlement sets off, in the same transaction: dependents are unblocked, waits end, parents end with their last child,
// and theirs in turn. Each turn of the loop loads, asks a pure verdict, and writes.
import type { DependencyRecord } from '../entities/dependency.ts'
import { isSettled, type TaskRecord } from '../entities/task.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { endsWait, parentVerdict, type WaitParams } from '../machines/family.ts'
import type { TaskEventName } from '../machines/task-machine.ts'
import { moved, touched } from '../machines/task-transition.ts'
import { eventOf, type Moment } from './moment.ts'

/** Settles the relatives of tasks that have just been written as settled. */
export function* settleFamily(tx: Tx, settled: readonly TaskRecord[], moment: Moment): Op<void> {
  const queue = [...settled]
  for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
    for (const edge of yield* tx.dependency.dependents(task.id)) yield* releaseEdge(tx, edge, task, moment)
    const parent = task.parentId === null ? undefined : yield* settleParent(tx, task.parentId, moment)
    if (parent) queue.push(parent)
  }
}

/** Closes one edge that points at a settled (or deleted) task, if that satisfies it. */
export function* releaseEdge(tx: Tx, edge: DependencyRecord, blocker: TaskRecord, moment: Moment): Op<void> {
  const gone = blocker.deletedAt !== null
  if (edge.kind === 'after') {
    if (blocker.status === 'completed' || gone) yield* unblock(tx, edge, moment)
    return
  }
  yield* tx.dependency.satisfy(edge, moment.at)
  const call = yield* tx.call.get(edge.callId)
  const waiter = yield* tx.task.get(edge.taskId)
  if (!call || !waiter || call.status !== 'pending') return
  if (!endsWait(call.params as WaitParams, blocker.status, yield* tx.dependency.hasOpenWaits(edge.callId))) return
  yield* tx.call.save({ ...call, details: { over: true }, updatedAt: moment.at })
  yield* wake(tx, waiter, call.id, moment)
}

/** One of a task's waits is over: it may run again, or its live run goes on. */
export function* wake(tx: Tx, waiter: TaskRecord, callId: string, moment: Moment): Op<TaskRecord> {
  const woken = touched(waiter, moment.at, { wakes: waiter.wakes + 1 })
  yield* tx.task.save(woken)
  yield* tx.event.append(eventOf(moment, 'task.unblocked', woken, { callId }))
  return woken
}

function* unblock(tx: Tx, edge: DependencyRecord, moment: Moment): Op<void> {
  yield* tx.dependency.satisfy(edge, moment.at)
  const dependent = yield* tx.task.get(edge.taskId)
  if (!dependent) return
  const freed = touched(dependent, moment.at, { openBlockers: Math.max(0, dependent.openBlockers - 1) })
  yield* tx.task.save(freed)
  if (freed.openBlockers === 0 && freed.completedAt === null && freed.deletedAt === null) {
    yield* tx.event.append(eventOf(moment, 'task.unblocked', freed, { by: edge.blockerId }))
  }
}

/** Ends the parent if its children say so; the parent as it is then, or undefined when it goes on. */
export function* settleParent(tx: Tx, parentId: string, moment: Moment): Op<TaskRecord | undefined> {
  const parent = yield* tx.task.get(parentId)
  // Asked of the row first: counting children for a parent that cannot end would make a wide family's cancel quadratic.
  if (!parent || isSettled(parent.status) || !(parent.group || parent.policy.autoComplete)) return undefined
  const verdict = parentVerdict(parent, yield* tx.task.childFacts(parentId))
  if (verdict === null) return undefined
  let current = parent
  if (current.status !== 'working') current = yield* walkToWorking(tx, current, moment)
  const failed = { error: { code: 'CHILD_FAILED', message: 'A child failed or was canceled' } }
  current = moved(current, verdict, moment.at, verdict === 'fail' ? failed : {})
  yield* tx.task.save(current)
  yield* tx.event.append(
    verdict === 'fail'
      ? eventOf(moment, 'task.failed', current, { from: 'working', error: current.error, willRetry: false })
      : eventOf(moment, 'task.completed', current, { from: 'working' }),
  )
  return current
}

/** Ends a task that has just begun, or was opened again, if its children have all ended already; then its family in turn. */
export function* settleByChildren(tx: Tx, taskId: string, moment: Moment): Op<void> {
  const ended = yield* settleParent(tx, taskId, moment)
  if (ended) yield* settleFamily(tx, [ended], moment)
}

const wayToWorking: Partial<Record<TaskRecord['status'], TaskEventName>> = {
  submitted: 'start',
  paused: 'resume',
  waiting: 'unblock',
  input_required: 'answer',
}

/** Walks a task into WORKING without a run: the edges stay legal and each emits its event. */
export function* walkToWorking(tx: Tx, task: TaskRecord, moment: Moment): Op<TaskRecord> {
  const event = wayToWorking[task.status]
  if (event === undefined) return task
  const working = moved(task, event, moment.at, { held: false, wakes: 0 })
  yield* tx.task.save(working)
  yield* tx.event.append(eventOf(moment, 'task.started', working, { from: task.status, attempt: working.attempt }))
  return working
}

/** A child starts: the groups above it that have not started do. */
export function* startGroupsAbove(tx: Tx, child: TaskRecord, moment: Moment): Op<void> {
  for (let id = child.parentId; id !== null; ) {
    const parent: TaskRecord | undefined = yield* tx.task.get(id)
    if (!parent?.group || parent.status !== 'submitted') return
    yield* walkToWorking(tx, parent, moment)
    id = parent.parentId
  }
}

/** A child is tried again: the failed groups above it are open again. */
export function* reviveGroupsAbove(tx: Tx, child: TaskRecord, moment: Moment): Op<void> {
  for (let id = child.parentId; id !== null; ) {
    const parent: TaskRecord | undefined = yield* tx.task.get(id)
    if (!parent?.group || parent.status !== 'failed') return
    const revived = moved(parent, 'retry', moment.at, { attempt: parent.attempt + 1, error: null })
    yield* tx.task.save(revived)
    yield* tx.dependency.reopenWaits(revived.id)
    yield* tx.event.append(eventOf(moment, 'task.retried', revived, { from: 'failed', attempt: revived.attempt }))
    id = parent.parentId
  }
}
