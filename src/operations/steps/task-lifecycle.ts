// The verbs of a task: start, pause, resume, complete, fail. Each follows one edge of the table or is refused.
import { ErrandError } from '../../core/errors.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { isStuckGroup } from '../../machines/family.ts'
import { type ClaimToken, requireOwner } from '../../machines/ownership.ts'
import { isByHand } from '../../machines/readiness.ts'
import { nextStatus, requireTransition } from '../../machines/task-edges.ts'
import type { TaskEventName, TransitionData } from '../../machines/task-machine.ts'
import { amend } from './amend.ts'
import { cancelBelow } from './cancel-below.ts'
import { settle } from './settle-family.ts'
import { blocked, loadTask, type StepContext } from './step-context.ts'
import { transition } from './transition.ts'

/** SUBMITTED: a task with an executor may compete for a slot; one without is WORKING by hand; a group starts its children. */
export function start(id: string, ctx: StepContext): Step<void> {
  return step('start', function* (tx) {
    const task = yield* loadFree(tx, id, 'start')
    requireTransition(task, 'start')
    if (task.group || task.executor !== null) {
      yield* release(tx, task, ctx)
      for (const child of task.group ? yield* tx.task.subtree(id) : []) {
        if (child.status === 'submitted') yield* release(tx, child, ctx)
      }
      return
    }
    yield* transition(tx, task, 'start', ctx, { set: { held: false, notBefore: null } })
  })
}

/**
 * Loads a task that an event is to move.
 * @throws ErrandError NOT_FOUND; BLOCKED { blockedBy } for a task that is worked on by hand and would go on by this event
 */
export function* loadFree(tx: Reads, id: string, event: TaskEventName): Op<TaskRecord> {
  const task = yield* loadTask(tx, id)
  if (task.openBlockers === 0 || !isByHand(task) || nextStatus(task.status, event) === undefined) return task
  throw blocked(`${event} ${id}`, yield* tx.dependency.openBlockers(id), { taskId: id })
}

/** Ends what `autoStart: false` holds back. */
export function* release(tx: Tx, task: TaskRecord, ctx: StepContext): Op<void> {
  if (task.held) yield* amend(tx, task, { held: false }, ctx, 'task.updated', { changed: ['held'] })
}

/** WORKING: the run ends. PAUSED and resumed but not running yet: the resume is withdrawn. */
export function pause(id: string, ctx: StepContext): Step<void> {
  return step('pause', function* (tx) {
    const task = yield* loadTask(tx, id)
    const { status: from } = task
    // Resumed and still queued: the resume is withdrawn, without an edge.
    if (from === 'paused' && !task.held) {
      yield* amend(tx, task, { held: true }, ctx, 'task.paused', { from, withdrawn: 'resume' })
      return
    }
    yield* transition(tx, task, 'pause', ctx, { set: { held: true } })
  })
}

/** PAUSED: ready as soon as its last run is closed; without an executor WORKING at once. */
export function resume(id: string, ctx: StepContext): Step<void> {
  return step('resume', function* (tx) {
    const task = yield* loadFree(tx, id, 'resume')
    requireTransition(task, 'resume')
    if (task.executor !== null) {
      if (!task.held) throw resumedAlready(task)
      yield* amend(tx, task, { held: false }, ctx, 'task.resumed')
      return
    }
    yield* goOnByHand(tx, task, 'resume', ctx, { set: { held: false } })
  })
}

/** Why it has no owner: the owner released it, or was lost, while it rested. */
function leftBehind(task: TaskRecord): string | null {
  return task.owner === null && (task.statusReason === 'released' || task.statusReason === 'interrupted')
    ? task.statusReason
    : null
}

/** A task that is worked on by hand is WORKING again. If it lost its owner meanwhile, it waits for the next claim at once. */
export function* goOnByHand(
  tx: Tx,
  task: TaskRecord,
  event: 'resume' | 'answer',
  ctx: StepContext,
  data: TransitionData,
): Op<void> {
  yield* transition(tx, task, event, ctx, { ...data, leftBehind: leftBehind(task) })
}

export function complete(id: string, result: unknown, token: ClaimToken | undefined, ctx: StepContext): Step<void> {
  return end(id, 'complete', { result, error: null }, token, ctx)
}

/** An explicit failure is final: the retry policy is not applied. */
export function fail(
  id: string,
  { reason, code }: { reason: string; code: string },
  token: ClaimToken | undefined,
  ctx: StepContext,
): Step<void> {
  return end(id, 'fail', { statusReason: reason, error: { code, message: reason } }, token, ctx)
}

/** Refuses all but the owner of a claimed task. */
function end(
  id: string,
  event: 'complete' | 'fail',
  outcome: Partial<Pick<TaskRecord, 'result' | 'statusReason' | 'error'>>,
  token: ClaimToken | undefined,
  ctx: StepContext,
): Step<void> {
  return step(event, function* (tx) {
    const working = yield* loadTask(tx, id)
    requireOwner(working, token)
    const data = event === 'complete' ? { by: working.owner ?? 'verb' } : {}
    yield* transition(tx, working, event, ctx, { set: outcome, data })
  })
}

/** Saves both the definition of a task and its state. */
export function* saveWhole(tx: Tx, task: TaskRecord): Op<void> {
  // `ready` depends on columns of both statements, so only the second returns it.
  yield* tx.task.saveDefinition({ ...task, ready: false, claimable: false })
  yield* tx.task.save(task)
}

/** A second resume would have no effect: the first is still waiting for a slot. */
function resumedAlready(task: TaskRecord): ErrandError {
  return new ErrandError(
    'INVALID_TRANSITION',
    `Cannot resume ${task.id}: it has already been resumed and is queued. \`pause\` withdraws that.`,
    { taskId: task.id, from: 'paused', event: 'resume', allowed: ['pause', 'cancel'] },
  )
}

// Cancel: cancels the task and every live descendant, also below settled ones, in one transaction. Each of them has its own event.

/** A group that failed because nothing in it could move stays FAILED; its open descendants are canceled. */
export function cancel(id: string, reason: string | null, ctx: StepContext): Step<void> {
  return step('cancel', function* (tx) {
    const task = yield* loadTask(tx, id)
    const below = isStuckGroup(task) ? yield* cancelBelow(tx, task, reason, ctx) : []
    if (below.length > 0) yield* settle(tx, ctx, { ended: below })
    else yield* transition(tx, task, 'cancel', ctx, { set: { statusReason: reason } })
  })
}
