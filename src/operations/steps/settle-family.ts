// What follows from a transition for the relatives of a task, in the same transaction: each fact in the queue becomes an event to the machine
// of a relative, which decides what it means, and may add further facts.
import type { DependencyRecord } from '../../entities/dependency.ts'
import { awaitsChildren, isSettled, type TaskRecord } from '../../entities/task.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import { isBroken, isStuckGroup } from '../../machines/family.ts'
import { Cascade, type Ended } from './cascade.ts'
import { reviveGroups, reviveGroupsAbove, startGroupsAbove } from './groups-above.ts'
import { notifyParent } from './notify-parent.ts'
import { sendFact } from './send-event.ts'
import type { StepContext } from './step-context.ts'
import { judgeTask, noteConcerned } from './stuck.ts'

/** Follows up all that is queued, and what follows from it. */
export function* followUp(tx: Tx, cascade: Cascade, ctx: StepContext): Op<void> {
  for (const task of cascade.reopened.splice(0)) yield* reopenFamily(tx, task, cascade, ctx)
  for (const task of cascade.begun.splice(0)) yield* startGroupsAbove(tx, task, ctx)
  let settled = 0
  for (let more = true; more; ) {
    for (; settled < cascade.ended.length; settled++) {
      yield* settleOne(tx, cascade.ended[settled] as Ended, cascade, ctx)
    }
    more = yield* judgeNext(tx, cascade, ctx)
  }
}

/** Follows up what has ended, and judges tasks and parents again. */
export function* settle(
  tx: Tx,
  ctx: StepContext,
  {
    ended = [],
    tasks = [],
    parents = [],
  }: { ended?: Iterable<Ended>; tasks?: Iterable<string>; parents?: Iterable<string> },
): Op<void> {
  const cascade = new Cascade()
  cascade.ended.push(...ended)
  for (const id of tasks) cascade.tasks.add(id)
  for (const id of parents) cascade.parents.add(id)
  yield* followUp(tx, cascade, ctx)
}

/** A task is open again: so are the failed groups above it. Their blockers may have ended while that had no effect on them. */
function* reopenFamily(tx: Tx, task: TaskRecord, cascade: Cascade, ctx: StepContext): Op<void> {
  const opened = [task, ...(yield* reviveGroupsAbove(tx, task, ctx))]
  for (const each of opened) {
    yield* noteConcerned(tx, each, cascade)
    cascade.ended.push(...(yield* brokenBlockers(tx, each)))
  }
}

/** Judges one of the concerned tasks; false when none is left. */
function* judgeNext(tx: Tx, cascade: Cascade, ctx: StepContext): Op<boolean> {
  const taskId = cascade.tasks.next()
  if (taskId !== undefined) {
    const task = yield* tx.task.get(taskId)
    if (task !== undefined) yield* judgeTask(tx, task, cascade)
    return true
  }
  const parentId = cascade.parents.next()
  if (parentId !== undefined) {
    yield* sendToParent(tx, parentId, cascade, ctx, true)
    return true
  }
  const groupId = cascade.stuckGroups.next()
  if (groupId !== undefined) yield* reviveIfMovable(tx, groupId, cascade, ctx)
  return groupId !== undefined
}

function* settleOne(tx: Tx, { task, edges }: Ended, cascade: Cascade, ctx: StepContext): Op<void> {
  for (const edge of edges ?? (yield* tx.dependency.dependents(task.id))) {
    const blocker = edge.blockerId === task.id ? task : yield* tx.task.get(edge.blockerId)
    if (blocker) yield* sendToDependent(tx, edge, blocker, cascade, ctx)
  }
  if (edges !== undefined || task.parentId === null) return
  // First: a parent that receives a message goes on and is not completed by this end.
  yield* notifyParent(tx, task, ctx)
  const parent = task.status === 'failed' ? yield* tx.task.get(task.parentId) : undefined
  if (parent !== undefined) yield* sendFact(tx, { type: 'child.failed', own: parent, child: task }, cascade, ctx)
  yield* sendToParent(tx, task.parentId, cascade, ctx, false)
}

/** Informs a parent that a child has ended, can move, or no longer can. `allJudged`: after all tasks that this concerns have been judged. */
function* sendToParent(tx: Tx, id: string, cascade: Cascade, ctx: StepContext, allJudged: boolean): Op<void> {
  const own = yield* tx.task.get(id)
  if (own === undefined) return
  const children = mayEndByChildren(own) ? yield* tx.task.childFacts(id) : undefined
  yield* sendFact(tx, { type: 'child.settled', own, children, allJudged }, cascade, ctx)
}

/** The row is checked first: counting the children of a parent that cannot end would make the cancel of a wide family quadratic. */
function mayEndByChildren(parent: TaskRecord): boolean {
  return !isSettled(parent.status) && (parent.group || Boolean(parent.policy.autoComplete) || awaitsChildren(parent))
}

function* sendToDependent(
  tx: Tx,
  edge: DependencyRecord,
  blocker: TaskRecord,
  cascade: Cascade,
  ctx: StepContext,
): Op<void> {
  if (edge.kind === 'wait') return yield* sendToWaiter(tx, edge, blocker, cascade, ctx)
  const own = yield* tx.task.get(edge.taskId)
  if (own !== undefined) yield* sendFact(tx, { type: 'blocker.settled', own, blocker, edge }, cascade, ctx)
}

function* sendToWaiter(
  tx: Tx,
  edge: DependencyRecord,
  { status }: TaskRecord,
  cascade: Cascade,
  ctx: StepContext,
): Op<void> {
  yield* tx.dependency.satisfy(edge, ctx.at)
  const call = yield* tx.call.get(edge.callId)
  const own = yield* tx.task.get(edge.taskId)
  if (!call || !own || call.status !== 'pending') return
  const othersOpen = yield* tx.dependency.hasOpenWaits(edge.callId)
  yield* sendFact(tx, { type: 'awaited.settled', own, call, status, othersOpen }, cascade, ctx)
}

/** Reopens a group, with the failed groups around it, if one of its tasks may be able to move again. */
function* reviveIfMovable(tx: Tx, id: string, cascade: Cascade, ctx: StepContext): Op<void> {
  const group = (yield* tx.task.get(id)) as TaskRecord
  if (!isStuckGroup(group) || !(yield* tx.task.childFacts(id)).movable) return
  for (const opened of yield* reviveGroups(tx, group, ctx)) {
    yield* noteConcerned(tx, opened, cascade)
    cascade.ended.push(...(yield* brokenBlockers(tx, opened)))
  }
}

/** Judges the edges of tasks that were made to come after a blocker that had already ended. */
export function* settleEdges(tx: Tx, taskIds: ReadonlySet<string>, blockerId: string, ctx: StepContext): Op<void> {
  const task = yield* tx.task.get(blockerId)
  if (!task) return
  const edges = (yield* tx.dependency.dependents(blockerId)).filter((edge) => taskIds.has(edge.taskId))
  yield* settle(tx, ctx, { ended: [{ task, edges }] })
}

/** Judges the blockers of a task that ended while they had no effect on it: it had settled, or had another policy. */
export function* settleBlockers(tx: Tx, task: TaskRecord, ctx: StepContext): Op<void> {
  yield* settle(tx, ctx, { ended: yield* brokenBlockers(tx, task) })
}

/** The failed and canceled blockers of a task, each with its edge. */
function* brokenBlockers(tx: Tx, { id, openBlockers }: TaskRecord): Op<Ended[]> {
  const broken: Ended[] = []
  for (const blockerId of openBlockers === 0 ? [] : yield* tx.dependency.openBlockers(id)) {
    const task = yield* tx.task.get(blockerId)
    if (task === undefined || !isBroken(task.status)) continue
    broken.push({ task, edges: (yield* tx.dependency.dependents(blockerId)).filter(({ taskId }) => taskId === id) })
  }
  return broken
}

/** Ends a task that has just begun or reopened if all its children have ended; then its family in turn. */
export function* settleByChildren(tx: Tx, taskId: string, ctx: StepContext): Op<void> {
  yield* settle(tx, ctx, { parents: [taskId] })
}
