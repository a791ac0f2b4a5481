// The ledger's half of the actions of a task's machine, by name (machines/task-machine.ts). Each is carried out inside the transaction, in
// the order in which the machine lists them. What concerns relatives is queued in the cascade.
import type { StoredError } from '../../core/errors.ts'
import type { EventType } from '../../entities/event.ts'
import type { RunOutcome, RunStatus } from '../../entities/run.ts'
import { awaitsChildren, isSettled, type TaskRecord } from '../../entities/task.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import { derive, touched } from '../../machines/changed-task.ts'
import { childFailure } from '../../machines/family.ts'
import { decideRun } from '../../machines/run-machine.ts'
import type { TaskMachineEvent, TransitionData, taskActions } from '../../machines/task-machine.ts'
import { cancelBelow } from './cancel-below.ts'
import type { Cascade } from './cascade.ts'
import { closeEntries, endedWith, isIdle } from './journal-closing.ts'
import { notifyParent } from './notify-parent.ts'
import { raiseHandler } from './raise-handler.ts'
import { eventOf, type StepContext } from './step-context.ts'
import { judgeTask, stuckError } from './stuck.ts'
import { endWaitOf } from './wait.ts'

export type TaskAction = keyof typeof taskActions

/** One transition of a task. */
export interface TaskChange {
  before: TaskRecord
  /** The actions before `record` may change it. For a fact that moves the task nowhere, the same row. */
  next: TaskRecord
  event: TaskMachineEvent
  data: TransitionData
  /** The error with which the task fails, if a relative is the reason: set by a fact, for the transition that it raises. */
  blame: { error: StoredError | undefined }
  cascade: Cascade
  ctx: StepContext
}

type Effect<P = undefined> = (tx: Tx, change: TaskChange, params: P) => Op<void>

export const taskEffects: { readonly [A in TaskAction]: Effect<A extends 'record' ? { as: EventType } : undefined> } = {
  *startRun(tx, { next, data, ctx }) {
    const { number, dueAt } = data.run as NonNullable<TransitionData['run']>
    next.run = number
    next.runOpen = true
    yield* tx.run.insert({
      taskId: next.id,
      number,
      generation: next.generation,
      attempt: next.attempt,
      instanceId: ctx.instanceId,
      status: 'live',
      outcome: null,
      error: null,
      startedAt: ctx.at,
      endedAt: null,
      closedAt: null,
      dueAt,
    })
  },

  /** Marks the live run as ending, or as closed; a run that has already ended is not changed. */
  *endRun(tx, { before, next, data, ctx }) {
    if (!before.runOpen) return
    const closed = data.settling?.closed === true
    if (closed) next.runOpen = false
    // The fence of a run that settles has shown that it is live.
    const from = data.settling === undefined ? (yield* tx.run.get(before.id, before.run))?.status : 'live'
    const [end] = (from && decideRun(from, { type: closed ? 'close' : data.suspends ? 'suspend' : 'end' })) ?? []
    if (end === undefined) return
    // From WORKING, the next state determines the outcome of the run.
    const outcome = data.outcome ?? (next.status as RunOutcome)
    yield* tx.run.save({
      taskId: before.id,
      number: before.run,
      status: end.to as RunStatus,
      outcome,
      error: outcome === 'failed' ? next.error : null,
      endedAt: ctx.at,
      closedAt: closed ? ctx.at : null,
    })
  },

  *closeEntries(tx, { before, next, data, ctx }) {
    if (data.settling?.journaled === false) return
    yield* closeEntries(tx, next, before.runOpen ? isIdle : () => true, () => endedWith(next), ctx)
  },

  /** The timer of a settled task would only delay others. */
  *clearTimer(_tx, { next }) {
    next.notBefore = null
  },

  /** A settled task waits for nothing, and must not count as stuck when it reopens. */
  *clearStuck(tx, { next }) {
    if (next.stuckBy === null) return
    next.stuckBy = null
    yield* tx.task.setStuck(next.id, null)
  },

  *reopenWaits(tx, { next }) {
    yield* tx.dependency.reopenWaits(next.id)
  },

  /** Saves the row, and adds what led to the transition and its own event. */
  *record(tx, { before, next, data, ctx }, { as }) {
    derive(next, ctx.at)
    // `ready` depends on columns of both statements, so only the second returns it.
    if (data.set?.policy !== undefined) yield* tx.task.saveDefinition({ ...next, ready: false, claimable: false })
    yield* tx.task.save(next)
    if (data.cause !== undefined) yield* tx.event.append(eventOf(ctx, data.cause.type, next, data.cause.data(next)))
    yield* tx.event.append(eventOf(ctx, as, next, { ...dataOf(before, next, data), ...data.data }))
    if (next.status === 'failed' && data.retry === undefined) yield* raiseHandler(tx, next, 'failure', ctx)
    if (next.status === 'input_required') yield* raiseHandler(tx, next, 'inputRequired', ctx)
  },

  *startGroupsAbove(_tx, { next, cascade }) {
    cascade.begun.push(next)
  },

  *reopenFamily(_tx, { next, cascade }) {
    cascade.reopened.push(next)
  },

  /** Whether it can move, and whether its children had ended before it began, reopened, or began to wait for them. */
  *judge(_tx, { next, cascade }) {
    if (next.openBlockers > 0 || next.stuckBy !== null) cascade.tasks.add(next.id)
    const endsByChildren = (next.status === 'working' && !next.runOpen) || next.group || awaitsChildren(next)
    if (endsByChildren) cascade.parents.add(next.id)
  },

  *settleFamily(_tx, { next, cascade }) {
    cascade.ended.push({ task: next })
  },

  *cancelBelow(tx, { next, event, cascade, ctx }) {
    const reason = event.type === 'fail.anywhere' ? (event.cancelBelow ?? null) : next.statusReason
    for (const each of yield* cancelBelow(tx, next, reason, ctx)) cascade.ended.push(each)
  },

  /** The parent goes on without its children, so it is notified of those with `notifyParent`. */
  *cancelSiblings(tx, { next: parent, event, cascade, ctx }) {
    const why = `child ${(event as OfType<'child.failed'>).child.id} failed`
    const telling = (yield* tx.task.children(parent.id)).filter(
      (child) => child.policy.notifyParent && !isSettled(child.status),
    )
    for (const each of yield* cancelBelow(tx, parent, why, ctx)) cascade.ended.push(each)
    for (const { id } of telling) yield* notifyParent(tx, (yield* tx.task.get(id)) as TaskRecord, ctx)
  },

  *blameChild(tx, { event, blame }) {
    if (event.type === 'child.failed') {
      blame.error = childFailure(event.child)
      return
    }
    const { stuck, broken } = (event as OfType<'child.settled'>).children as NonNullable<
      OfType<'child.settled'>['children']
    >
    blame.error =
      stuck === null ? childFailure((yield* tx.task.get(broken as string)) as TaskRecord) : yield* stuckError(tx, stuck)
  },

  *judgeLater(_tx, { next, event, cascade }) {
    if (event.type === 'child.settled') cascade.parents.add(next.id)
    else if (next.stuckBy === null) cascade.tasks.add(next.id)
  },

  *noteStuck(tx, { next, cascade }) {
    const by = yield* judgeTask(tx, next, cascade)
    // A task below a stuck one may still move: the ancestors are judged by that.
    if (by !== null && next.parentId !== null) cascade.parents.add(next.parentId)
  },

  *reviveLater(_tx, { next, cascade }) {
    cascade.stuckGroups.add(next.id)
  },

  *satisfyDependency(tx, { next: dependent, event, cascade, ctx }) {
    const { blocker, edge } = event as OfType<'blocker.settled'>
    yield* tx.dependency.satisfy(edge, ctx.at)
    const freed = touched(dependent, ctx.at, { openBlockers: Math.max(0, dependent.openBlockers - 1) })
    yield* tx.task.save(freed)
    if (freed.openBlockers === 0 && freed.completedAt === null && freed.deletedAt === null) {
      yield* tx.event.append(eventOf(ctx, 'task.unblocked', freed, { by: blocker.id }))
    }
    // A dependent that is stuck behind another blocker stays stuck.
    if (dependent.stuckBy === blocker.id) cascade.tasks.add(dependent.id)
  },

  *endWait(tx, { next: waiter, event, ctx }) {
    yield* endWaitOf(tx, waiter, (event as OfType<'awaited.settled'>).call, ctx)
  },
}

type OfType<T extends TaskMachineEvent['type']> = Extract<TaskMachineEvent, { type: T }>

function dataOf(before: TaskRecord, { status, statusReason, attempt, error }: TaskRecord, { retry }: TransitionData) {
  const from = { from: before.status }
  const left = before.runOpen ? { ...from, run: before.run } : from
  switch (status) {
    case 'working':
    case 'submitted':
      return { ...from, attempt }
    case 'failed':
      return { ...left, error, willRetry: retry !== undefined }
    case 'canceled':
      return { ...left, reason: statusReason }
    case 'waiting':
      return statusReason === null ? left : { ...left, reason: statusReason }
    default:
      return left
  }
}
