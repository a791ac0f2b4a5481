// What a settlement sets off, in the same transaction: dependents are unblocked or canceled, waits end, parents that want to be
// told are told, parents end with their last child or fail with one, and theirs in turn. Each turn of the loop loads, asks a pure
// verdict, and writes.
import type { DependencyRecord } from '../entities/dependency.ts'
import { isSettled, type TaskRecord } from '../entities/task.ts'
import type { StoredError } from '../errors.ts'
import type { NewTask, Op, Tx } from '../ledger/ledger.ts'
import {
  awaitsChildren,
  childFailureVerdict,
  dependencyVerdict,
  endsWait,
  isBroken,
  isStuckGroup,
  parentVerdict,
  type WaitParams,
} from '../machines/family.ts'
import type { TaskEventName } from '../machines/task-machine.ts'
import { touched } from '../machines/task-transition.ts'
import { closeEntry, endedWith, isInFlight } from './journal-closing.ts'
import { eventOf, type Moment } from './moment.ts'
import { wake } from './rouse.ts'
import { type Concerned, judgeTask, noteConcerned, stuckError } from './stuck.ts'
import { tellParent } from './tell-parent.ts'
import { walk } from './walk.ts'

/** Something has ended: one task, or with `edges` a whole cascade, of which only the edges that lead out of it are left. */
export interface Ended {
  task: TaskRecord
  edges?: readonly DependencyRecord[]
}

/** What is left to follow up. */
interface Pending extends Concerned {
  ended: Ended[]
}

/** Settles the relatives of what has ended, and judges anew whether tasks that this or something else concerns can move. */
export function* settleAll(
  tx: Tx,
  ended: readonly Ended[],
  moment: Moment,
  concerned: Partial<Concerned> = {},
): Op<void> {
  const pending: Pending = {
    ended: [...ended],
    tasks: [...(concerned.tasks ?? [])],
    parents: [...(concerned.parents ?? [])],
  }
  // By position: to shift a hundred thousand entries one by one would be quadratic. What has ended comes first, so that inner groups
  // are judged before those around them.
  const at = { ended: 0, tasks: 0, parents: 0 }
  for (;;) {
    if (at.ended < pending.ended.length) yield* settleOne(tx, pending.ended[at.ended++] as Ended, pending, moment)
    else if (at.tasks < pending.tasks.length) {
      const task = yield* tx.task.get(pending.tasks[at.tasks++] as string)
      if (task !== undefined) yield* judgeTask(tx, task, pending)
    } else if (at.parents < pending.parents.length) {
      yield* judgeParent(tx, pending.parents[at.parents++] as string, pending, moment)
    } else return
  }
}

function* settleOne(tx: Tx, { task, edges }: Ended, pending: Pending, moment: Moment): Op<void> {
  for (const edge of edges ?? (yield* tx.dependency.dependents(task.id))) {
    const blocker = edge.blockerId === task.id ? task : yield* tx.task.get(edge.blockerId)
    if (blocker) yield* endEdge(tx, edge, blocker, pending, moment)
  }
  if (edges !== undefined || task.parentId === null) return
  // First of all: a parent that is told of an end goes on, and is not completed by it.
  yield* tellParent(tx, task, moment)
  if (task.status === 'failed') pending.ended.push(...(yield* childFailed(tx, task.parentId, task, moment)))
  yield* judgeParent(tx, task.parentId, pending, moment)
}

/** A child has ended, or can move or no longer: its parent ends by it, is opened again, or the same becomes true of it. */
function* judgeParent(tx: Tx, id: string, pending: Pending, moment: Moment): Op<void> {
  const parent = yield* tx.task.get(id)
  if (parent === undefined) return
  if (isStuckGroup(parent)) {
    if (!(yield* tx.task.childFacts(id)).movable) return
    for (const group of yield* reviveGroups(tx, parent, moment)) yield* noteConcerned(tx, group, pending)
    return
  }
  const ended = yield* settleParent(tx, parent, moment)
  if (ended === undefined) yield* judgeTask(tx, parent, pending)
  else pending.ended.push({ task: ended })
}

/** A blocker was named as a dependency after its end: the edges of those that come after it since are judged now. */
export function* settleEdges(tx: Tx, taskIds: ReadonlySet<string>, blockerId: string, moment: Moment): Op<void> {
  const task = yield* tx.task.get(blockerId)
  if (!task) return
  const edges = (yield* tx.dependency.dependents(blockerId)).filter((edge) => taskIds.has(edge.taskId))
  yield* settleAll(tx, [{ task, edges }], moment)
}

/** What a task comes after ended while that meant nothing to it (it had settled, or its policy was another): it is judged now. */
export function* settleBlockers(tx: Tx, taskId: string, moment: Moment): Op<void> {
  for (const blockerId of yield* tx.dependency.openBlockers(taskId)) {
    const blocker = yield* tx.task.get(blockerId)
    if (blocker && isBroken(blocker.status)) yield* settleEdges(tx, new Set([taskId]), blockerId, moment)
  }
}

/** Closes one edge that points at a settled (or deleted) task, if that satisfies it. */
function* endEdge(tx: Tx, edge: DependencyRecord, blocker: TaskRecord, pending: Pending, moment: Moment): Op<void> {
  if (edge.kind === 'wait') return yield* endWaitEdge(tx, edge, blocker, moment)
  const dependent = yield* tx.task.get(edge.taskId)
  if (dependent === undefined) return
  switch (dependencyVerdict(dependent, blocker)) {
    case 'satisfy':
      yield* satisfyDependency(tx, edge, dependent, moment)
      if (dependent.stuckBy !== null) pending.tasks.push(dependent.id)
      return
    case 'cancel': {
      const reason = `dependency ${blocker.id} ${howEnded(blocker)}`
      return void pending.ended.push(...(yield* cancelFamily(tx, dependent, reason, moment)))
    }
    case null:
      if (dependent.stuckBy === null) pending.tasks.push(dependent.id)
  }
}

function howEnded(task: TaskRecord): string {
  return task.status === 'failed' ? 'failed' : 'was canceled'
}

function* endWaitEdge(tx: Tx, edge: DependencyRecord, blocker: TaskRecord, moment: Moment): Op<void> {
  yield* tx.dependency.satisfy(edge, moment.at)
  const call = yield* tx.call.get(edge.callId)
  const waiter = yield* tx.task.get(edge.taskId)
  if (!call || !waiter || call.status !== 'pending') return
  if (!endsWait(call.params as WaitParams, blocker.status, yield* tx.dependency.hasOpenWaits(edge.callId))) return
  yield* tx.call.save({ ...call, details: { over: true }, updatedAt: moment.at })
  yield* wake(tx, waiter, call.id, moment)
}

/**
 * Cancels a task and everything live below it, below settled ones too (conformance C-42); what ended by that. The task itself
 * is one row, what is below it one set statement.
 */
export function* cancelFamily(tx: Tx, task: TaskRecord, reason: string | null, moment: Moment): Op<Ended[]> {
  const next = yield* walk(tx, task, 'cancel', moment, { set: { statusReason: reason } })
  return [{ task: next }, ...(yield* cancelBelow(tx, next, reason, moment))]
}

/** Cancels everything live below a task, and not the task. */
export function* cancelBelow(tx: Tx, root: TaskRecord, reason: string | null, moment: Moment): Op<Ended[]> {
  const canceled = yield* tx.cascade.cancel({ root: root.id, reason, ...moment })
  if (canceled === undefined) return []
  for (const { call, runOpen } of yield* tx.cascade.openEntries(canceled)) {
    if (isInFlight(call) && runOpen) continue
    yield* closeEntry(tx, (yield* tx.task.get(call.taskId)) as TaskRecord, call, endedWith, moment)
  }
  return [{ task: root, edges: yield* tx.cascade.edgesOut(canceled) }]
}

/** What the parent's policy makes of a child that failed for good. */
function* childFailed(tx: Tx, parentId: string, child: TaskRecord, moment: Moment): Op<Ended[]> {
  const parent = yield* tx.task.get(parentId)
  const verdict = parent && childFailureVerdict(parent)
  if (!parent || !verdict) return []
  const why = `child ${child.id} failed`
  if (verdict === 'cancel-siblings') return yield* cancelSiblings(tx, parent, why, moment)
  const error = {
    code: 'CHILD_FAILED',
    message: `Child ${child.id} (${child.name}) failed: ${child.error?.message ?? 'for no stated reason'}`,
    details: { child: child.id },
  }
  return [{ task: yield* failWhereItStands(tx, parent, error, moment) }]
}

/** The parent goes on without its children, so it is told of those that tell it of their end. */
function* cancelSiblings(tx: Tx, parent: TaskRecord, why: string, moment: Moment): Op<Ended[]> {
  const telling = (yield* tx.task.children(parent.id)).filter(
    (child) => child.policy.tellParent && !isSettled(child.status),
  )
  const ended = yield* cancelBelow(tx, parent, why, moment)
  for (const { id } of telling) yield* tellParent(tx, (yield* tx.task.get(id)) as TaskRecord, moment)
  return ended
}

/** Fails a task from whatever live state it is in: it walks to WORKING if it must, and its run, if it has one, ends. */
export function* failWhereItStands(tx: Tx, task: TaskRecord, error: StoredError, moment: Moment): Op<TaskRecord> {
  return yield* walk(tx, yield* walkToWorking(tx, task, moment), 'fail', moment, { set: { error } })
}

function* satisfyDependency(tx: Tx, edge: DependencyRecord, dependent: TaskRecord, moment: Moment): Op<void> {
  yield* tx.dependency.satisfy(edge, moment.at)
  const freed = touched(dependent, moment.at, { openBlockers: Math.max(0, dependent.openBlockers - 1) })
  yield* tx.task.save(freed)
  if (freed.openBlockers === 0 && freed.completedAt === null && freed.deletedAt === null) {
    yield* tx.event.append(eventOf(moment, 'task.unblocked', freed, { by: edge.blockerId }))
  }
}

/** Ends a parent if its children say so; the parent as it is then, or undefined when it goes on. */
function* settleParent(tx: Tx, parent: TaskRecord, moment: Moment): Op<TaskRecord | undefined> {
  // Asked of the row first: counting children for a parent that cannot end would make a wide family's cancel quadratic.
  if (isSettled(parent.status)) return undefined
  if (!(parent.group || parent.policy.autoComplete || awaitsChildren(parent))) return undefined
  const children = yield* tx.task.childFacts(parent.id)
  const verdict = parentVerdict(parent, children)
  if (verdict === null) return undefined
  const working = yield* walkToWorking(tx, parent, moment)
  if (verdict === 'complete') return yield* walk(tx, working, verdict, moment)
  const error =
    children.stuck === null
      ? { code: 'CHILD_FAILED', message: 'A child failed or was canceled' }
      : yield* stuckError(tx, children.stuck)
  return yield* walk(tx, working, verdict, moment, { set: { error } })
}

/** Ends a task that has just begun, or was opened again, if its children have all ended already; then its family in turn. */
export function* settleByChildren(tx: Tx, taskId: string, moment: Moment): Op<void> {
  yield* settleAll(tx, [], moment, { parents: [taskId] })
}

/** The event that leads a task back to WORKING. */
export const wayToWorking: Partial<Record<TaskRecord['status'], TaskEventName>> = {
  submitted: 'start',
  paused: 'resume',
  waiting: 'unblock',
  input_required: 'answer',
}

/** Walks a task into WORKING without a run: the edges stay legal and each emits its event. */
export function* walkToWorking(tx: Tx, task: TaskRecord, moment: Moment): Op<TaskRecord> {
  const event = wayToWorking[task.status]
  if (event === undefined) return task
  return yield* walk(tx, task, event, moment, { set: { held: false, wakes: 0 } })
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

/** A deadline that has passed must not end a new attempt at once. */
export function futureDeadline({ deadline }: Pick<TaskRecord, 'deadline'>, at: number): number | null {
  return deadline !== null && deadline > at ? deadline : null
}

/** A child is tried again, or is new: the failed groups above it are open again. Resolves to these. */
export function* reviveGroupsAbove(tx: Tx, { parentId }: NewTask, moment: Moment): Op<TaskRecord[]> {
  const parent = parentId === null ? undefined : yield* tx.task.get(parentId)
  return parent === undefined ? [] : yield* reviveGroups(tx, parent, moment)
}

/** Opens a failed group again, and the failed groups around it. */
function* reviveGroups(tx: Tx, innermost: TaskRecord, moment: Moment): Op<TaskRecord[]> {
  const revived: TaskRecord[] = []
  for (let group: TaskRecord | undefined = innermost; group?.group && group.status === 'failed'; ) {
    const set = { attempt: group.attempt + 1, error: null, deadline: futureDeadline(group, moment.at) }
    revived.push(yield* walk(tx, group, 'retry', moment, { set }))
    group = group.parentId === null ? undefined : yield* tx.task.get(group.parentId)
  }
  return revived
}
