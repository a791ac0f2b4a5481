// The consequences of a settlement, in the same transaction: dependents are unblocked or canceled, waits end, parents are notified, and
// parents end with their last child or fail with one; then the same for the families of these. Each turn of the loop loads, calls a pure
// verdict, and writes.

import { z } from 'zod'
import type { StoredError } from '../../core/errors.ts'
import { clipped, storableText } from '../../core/storable-text.ts'
import type { DependencyRecord } from '../../entities/dependency.ts'
import { failureSuffix, isSettled, type TaskRecord } from '../../entities/task.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import { touched } from '../../machines/changed-task.ts'
import {
  type ChildFacts,
  childFailure,
  childFailureVerdict,
  dependencyVerdict,
  endsWait,
  isBroken,
  isStuckGroup,
  parentVerdict,
  type WaitParams,
} from '../../machines/family.ts'
import { awaitsChildren } from '../../machines/transition-table.ts'
import { reviveGroups } from './groups-above.ts'
import { endEntry, endedWith, isInFlight } from './journal-closing.ts'
import { eventOf, type StepContext } from './step-context.ts'
import { type Concerned, judgeTask, noteConcerned, stuckError, Turns } from './stuck.ts'
import { wake, wakeByMessage } from './wait.ts'
import { walk, walkToWorking } from './walk.ts'
import { writeLine } from './write-message.ts'

/** What has ended: one task, or, with `edges`, a whole cascade with the edges that lead out of it. */
export interface Ended {
  task: TaskRecord
  edges?: readonly DependencyRecord[]
}

/** What is left to follow up, in this order. */
class Pending implements Concerned {
  readonly ended: Ended[]
  readonly tasks: Turns
  readonly parents: Turns
  /** Groups in which nothing could move: reopened only after all else is judged, so that inner ones come first. */
  readonly stuckGroups = new Turns()

  constructor(ended: readonly Ended[], { tasks, parents }: ConcernedIds) {
    this.ended = [...ended]
    this.tasks = new Turns(tasks)
    this.parents = new Turns(parents)
  }
}

interface ConcernedIds {
  tasks?: Iterable<string>
  parents?: Iterable<string>
}

/** Settles the relatives of what has ended, and judges again whether the tasks that this or `concerned` affects can move. */
export function* settleAll(tx: Tx, ended: readonly Ended[], ctx: StepContext, concerned: ConcernedIds = {}): Op<void> {
  const pending = new Pending(ended, concerned)
  let settled = 0
  for (let more = true; more; ) {
    for (; settled < pending.ended.length; settled++) {
      yield* settleOne(tx, pending.ended[settled] as Ended, pending, ctx)
    }
    more = yield* judgeNext(tx, pending, ctx)
  }
}

/** Judges one of the concerned tasks; false when none is left. */
function* judgeNext(tx: Tx, pending: Pending, ctx: StepContext): Op<boolean> {
  const taskId = pending.tasks.next()
  if (taskId !== undefined) {
    const task = yield* tx.task.get(taskId)
    if (task !== undefined) yield* judgeTask(tx, task, pending)
    return true
  }
  const parentId = pending.parents.next()
  if (parentId !== undefined) {
    yield* judgeParent(tx, parentId, pending, ctx, true)
    return true
  }
  const groupId = pending.stuckGroups.next()
  if (groupId !== undefined) yield* judgeStuckGroup(tx, groupId, pending, ctx)
  return groupId !== undefined
}

function* settleOne(tx: Tx, { task, edges }: Ended, pending: Pending, ctx: StepContext): Op<void> {
  for (const edge of edges ?? (yield* tx.dependency.dependents(task.id))) {
    const blocker = edge.blockerId === task.id ? task : yield* tx.task.get(edge.blockerId)
    if (blocker) yield* endEdge(tx, edge, blocker, pending, ctx)
  }
  if (edges !== undefined || task.parentId === null) return
  // First: a parent that receives a message goes on and is not completed by this end.
  yield* notifyParent(tx, task, ctx)
  if (task.status === 'failed') pending.ended.push(...(yield* childFailed(tx, task.parentId, task, ctx)))
  yield* judgeParent(tx, task.parentId, pending, ctx, false)
}

/**
 * Judges a parent whose child has ended, or can move or no longer can: the parent ends, or can itself no longer move. That nothing can move
 * is decided only after all tasks are judged: until then one of them may be free without being known to be.
 */
function* judgeParent(tx: Tx, id: string, pending: Pending, ctx: StepContext, allJudged: boolean): Op<void> {
  const parent = yield* tx.task.get(id)
  if (parent === undefined) return
  if (isStuckGroup(parent)) return pending.stuckGroups.add(id)
  const children = mayEndByChildren(parent) ? yield* tx.task.childFacts(id) : undefined
  const verdict = children === undefined ? null : parentVerdict(parent, children)
  if (children === undefined || verdict === null) {
    const by = yield* judgeTask(tx, parent, pending)
    // A task below a stuck one may still move: the ancestors are judged by that.
    if (by !== null && parent.parentId !== null) pending.parents.add(parent.parentId)
    return
  }
  if (verdict === 'fail' && children.live && !allJudged) return pending.parents.add(id)
  pending.ended.push({ task: yield* endParent(tx, parent, verdict, children, ctx) })
}

/** Reopens a group, with the failed groups around it, if one of its tasks may be able to move again. */
function* judgeStuckGroup(tx: Tx, id: string, pending: Pending, ctx: StepContext): Op<void> {
  const group = (yield* tx.task.get(id)) as TaskRecord
  if (!isStuckGroup(group) || !(yield* tx.task.childFacts(id)).movable) return
  for (const opened of yield* reviveGroups(tx, group, ctx)) {
    yield* noteConcerned(tx, opened, pending)
    for (const blocker of yield* brokenBlockers(tx, opened)) pending.ended.push(blocker)
  }
}

/** Judges the edges of tasks that were made to come after a blocker that had already ended. */
export function* settleEdges(tx: Tx, taskIds: ReadonlySet<string>, blockerId: string, ctx: StepContext): Op<void> {
  const task = yield* tx.task.get(blockerId)
  if (!task) return
  const edges = (yield* tx.dependency.dependents(blockerId)).filter((edge) => taskIds.has(edge.taskId))
  yield* settleAll(tx, [{ task, edges }], ctx)
}

/** Judges the blockers of a task that ended while they had no effect on it: it had settled, or had another policy. */
export function* settleBlockers(tx: Tx, task: TaskRecord, ctx: StepContext): Op<void> {
  yield* settleAll(tx, yield* brokenBlockers(tx, task), ctx)
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

/** Closes one edge from a settled or deleted blocker, if that satisfies it. */
function* endEdge(tx: Tx, edge: DependencyRecord, blocker: TaskRecord, pending: Pending, ctx: StepContext): Op<void> {
  if (edge.kind === 'wait') return yield* endWaitEdge(tx, edge, blocker, ctx)
  const dependent = yield* tx.task.get(edge.taskId)
  if (dependent === undefined) return
  switch (dependencyVerdict(dependent, blocker)) {
    case 'satisfy':
      yield* satisfyDependency(tx, edge, dependent, ctx)
      // A dependent that is stuck behind another blocker stays stuck.
      if (dependent.stuckBy === blocker.id) pending.tasks.add(dependent.id)
      return
    case 'cancel': {
      const reason = `dependency ${blocker.id} ${howEnded(blocker)}`
      return void pending.ended.push(...(yield* cancelFamily(tx, dependent, reason, ctx)))
    }
    case null:
      if (dependent.stuckBy === null) pending.tasks.add(dependent.id)
  }
}

function howEnded(task: TaskRecord): string {
  return task.status === 'failed' ? 'failed' : 'was canceled'
}

function* endWaitEdge(tx: Tx, edge: DependencyRecord, blocker: TaskRecord, ctx: StepContext): Op<void> {
  yield* tx.dependency.satisfy(edge, ctx.at)
  const call = yield* tx.call.get(edge.callId)
  const waiter = yield* tx.task.get(edge.taskId)
  if (!call || !waiter || call.status !== 'pending') return
  if (!endsWait(call.params as WaitParams, blocker.status, yield* tx.dependency.hasOpenWaits(edge.callId))) return
  yield* tx.call.save({ ...call, details: { over: true }, updatedAt: ctx.at })
  yield* wake(tx, waiter, call.id, ctx)
}

/**
 * Cancels a task and everything live below it, also below settled tasks. Returns what ended. The task itself is one row;
 * its descendants are one set statement.
 */
export function* cancelFamily(tx: Tx, task: TaskRecord, reason: string | null, ctx: StepContext): Op<Ended[]> {
  const next = yield* walk(tx, task, 'cancel', ctx, { set: { statusReason: reason } })
  return [{ task: next }, ...(yield* cancelBelow(tx, next, reason, ctx))]
}

/** Cancels everything live below a task, but not the task. */
export function* cancelBelow(tx: Tx, root: TaskRecord, reason: string | null, ctx: StepContext): Op<Ended[]> {
  const canceled = yield* tx.cascade.cancel({ root: root.id, reason, ...ctx })
  if (canceled === undefined) return []
  for (const { call, runOpen } of yield* tx.cascade.openEntries(canceled)) {
    if (isInFlight(call) && runOpen) continue
    const task = (yield* tx.task.get(call.taskId)) as TaskRecord
    yield* endEntry(tx, task, { ...call, status: 'failed', error: endedWith(task) }, ctx)
  }
  return [{ task: root, edges: yield* tx.cascade.edgesOut(canceled) }]
}

/** Applies the policy of the parent to a child that failed for good. */
function* childFailed(tx: Tx, parentId: string, child: TaskRecord, ctx: StepContext): Op<Ended[]> {
  const parent = yield* tx.task.get(parentId)
  const verdict = parent && childFailureVerdict(parent)
  if (!parent || !verdict) return []
  const why = `child ${child.id} failed`
  if (verdict === 'cancel-siblings') return yield* cancelSiblings(tx, parent, why, ctx)
  return [{ task: yield* failWhereItStands(tx, parent, childFailure(child), ctx) }]
}

/** The parent goes on without its children, so it is notified of those with `notifyParent`. */
function* cancelSiblings(tx: Tx, parent: TaskRecord, why: string, ctx: StepContext): Op<Ended[]> {
  const telling = (yield* tx.task.children(parent.id)).filter(
    (child) => child.policy.notifyParent && !isSettled(child.status),
  )
  const ended = yield* cancelBelow(tx, parent, why, ctx)
  for (const { id } of telling) yield* notifyParent(tx, (yield* tx.task.get(id)) as TaskRecord, ctx)
  return ended
}

/** Fails a task in any live state: it moves to WORKING first if it must, and its run, if any, ends. */
export function* failWhereItStands(tx: Tx, task: TaskRecord, error: StoredError, ctx: StepContext): Op<TaskRecord> {
  return yield* walk(tx, yield* walkToWorking(tx, task, ctx), 'fail', ctx, { set: { error } })
}

function* satisfyDependency(tx: Tx, edge: DependencyRecord, dependent: TaskRecord, ctx: StepContext): Op<void> {
  yield* tx.dependency.satisfy(edge, ctx.at)
  const freed = touched(dependent, ctx.at, { openBlockers: Math.max(0, dependent.openBlockers - 1) })
  yield* tx.task.save(freed)
  if (freed.openBlockers === 0 && freed.completedAt === null && freed.deletedAt === null) {
    yield* tx.event.append(eventOf(ctx, 'task.unblocked', freed, { by: edge.blockerId }))
  }
}

/** The row is checked first: counting the children of a parent that cannot end would make the cancel of a wide family quadratic. */
function mayEndByChildren(parent: TaskRecord): boolean {
  return !isSettled(parent.status) && (parent.group || Boolean(parent.policy.autoComplete) || awaitsChildren(parent))
}

/** Ends the parent according to its children. */
function* endParent(
  tx: Tx,
  parent: TaskRecord,
  verdict: 'complete' | 'fail',
  { stuck, broken }: ChildFacts,
  ctx: StepContext,
): Op<TaskRecord> {
  const working = yield* walkToWorking(tx, parent, ctx)
  if (verdict === 'complete') return yield* walk(tx, working, verdict, ctx)
  const error =
    stuck === null ? childFailure((yield* tx.task.get(broken as string)) as TaskRecord) : yield* stuckError(tx, stuck)
  return yield* walk(tx, working, verdict, ctx, { set: { error } })
}

/** Ends a task that has just begun or reopened if all its children have ended; then its family in turn. */
export function* settleByChildren(tx: Tx, taskId: string, ctx: StepContext): Op<void> {
  yield* settleAll(tx, [], ctx, { parents: [taskId] })
}

// The message that a parent receives about a child created with `notifyParent`: how the child ended, once, in the transaction of that end.
// An agent reads it like any other message before its next step, also after a crash. It answers no question.

/** Sends the parent of a child that has just settled a message about it. A parent that has ended receives none. */
function* notifyParent(tx: Tx, child: TaskRecord, ctx: StepContext): Op<void> {
  if (!child.policy.notifyParent || child.parentId === null) return
  const parent = yield* tx.task.get(child.parentId)
  if (!parent || parent.group || parent.deletedAt !== null || isSettled(parent.status)) return
  const content = storableText(outcomeText(child))
  yield* writeLine(tx, parent, { id: lineId(child), role: 'user', content, delivery: 'steer' }, ctx)
  yield* wakeByMessage(tx, parent, 'steer', ctx)
}

/** Each attempt ends once, so there is one message for it; the table would refuse a second. */
function lineId({ id, attempt }: TaskRecord): string {
  return `${id.replace(/^task-/, 'msg-')}-told-${attempt}`
}

/** The maximum of characters of each quoted text; of the output of a command, the last ones. */
const maxQuoteLength = 2_000
const maxNameLength = 200

/** `[background] task-… "name" completed: …`, with its outcome below. */
function outcomeText(child: TaskRecord): string {
  const name = clipped(child.name.replaceAll(/\s+/g, ' '), maxNameLength + 1)
  return `[background] ${child.id} "${name}" ${endingText(child)}`
}

function endingText({ status, statusReason, result, error }: TaskRecord): string {
  if (status === 'canceled')
    return `was canceled${statusReason === null ? '' : `: ${clipped(statusReason, maxQuoteLength + 1)}`}`
  const command = commandText(status === 'failed' ? error?.details : result)
  if (command !== undefined) return `${status}: ${command}`
  if (status === 'failed')
    return `failed${failureSuffix(error === null ? null : clipped(error.message, maxQuoteLength + 1))}`
  if (result === null || result === undefined) return 'completed'
  return `completed: ${clipped(typeof result === 'string' ? result : JSON.stringify(result), maxQuoteLength + 1)}`
}

/** What a command returns, as a result or as the details of its failure. */
const commandEndSchema = z.object({
  exitCode: z.number(),
  signal: z.string().nullable().optional(),
  stdout: z.string(),
  stderr: z.string(),
})

/** Undefined for an outcome that is not that of a command. */
function commandText(outcome: unknown): string | undefined {
  const { data } = commandEndSchema.safeParse(outcome)
  if (data === undefined) return undefined
  const ended = data.signal ? `ended by ${data.signal}` : `exit ${data.exitCode}`
  const printed = (['stdout', 'stderr'] as const).filter((name) => data[name].trim() !== '')
  if (printed.length === 0) return `${ended}, no output`
  return [ended, ...printed.map((name) => `${name}:\n${endOf(data[name].trimEnd(), maxQuoteLength)}`)].join('\n')
}

function endOf(text: string, limit: number): string {
  return text.length > limit ? `…${text.slice(-limit).replace(/^[\uDC00-\uDFFF]/, '')}` : text
}
