// Update: new values for the definition of a task, and, with `status`, the one edge that leads to it; all or nothing.
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { systemLane } from '../../entities/limits.ts'
import type { TaskPatch } from '../../entities/options.ts'
import { awaitsChildren, isTerminal, noReason, type TaskRecord } from '../../entities/task.ts'
import { policyFields, workFields } from '../../entities/task-fields.ts'
import { type Op, type Reads, type Step, step } from '../../ledger/ledger.ts'
import { renewed, touched } from '../../machines/changed-task.ts'
import { type ClaimToken, isOwner, requireOwner } from '../../machines/ownership.ts'
import { isByHand, isReleased } from '../../machines/readiness.ts'
import { eventBetween, refuseTransition } from '../../machines/task-edges.ts'
import { cycleError } from '../../machines/task-graph.ts'
import type { TaskEventName } from '../../machines/task-machine.ts'
import { refuseIdlePolicy } from '../drafts/idle-options.ts'
import { answer } from './answer.ts'
import { notClaimable } from './claim.ts'
import { loadRewiring, type Rewiring, writeRewiring } from './dependencies.ts'
import { retry } from './retry.ts'
import { guardChange } from './right-to-answer.ts'
import { settleBlockers, settleByChildren } from './settle-family.ts'
import { eventOf, loadTask, loadToChange, type StepContext } from './step-context.ts'
import { cancel, complete, fail, loadFree, pause, resume, saveWhole, start } from './task-lifecycle.ts'
import { transition } from './transition.ts'

/** The caller of an update from outside. */
interface Updater {
  caller: Caller
  /**
   * Refuses an input that the executor does not accept. It checks the executor that the task has in this transaction, which may have
   * changed since the caller read the task.
   */
  checkInput(executor: string | null, input: unknown, name: string): void
}

/**
 * `token`: the claim token, for a change of the state of a claimed task. Without an updater the update is part of another step, and answers
 * no question.
 */
export function update(
  id: string,
  patch: TaskPatch,
  token: ClaimToken | undefined,
  ctx: StepContext,
  updater?: Updater,
): Step<void> {
  return step('update', function* (tx) {
    const { status, blockedBy, ...given } = patch
    const changed = Object.keys(given).filter((field) => given[field as keyof typeof given] !== undefined)
    const task = yield* loadToChange(tx, id)
    const executor = given.executor ?? task.executor
    if (task.system) refuseOtherWork(task, changed)
    if (given.owner !== undefined) requireAssignable(task)
    if (given.autoComplete && !task.policy.autoComplete) yield* requireEndingChildren(tx, id)
    const rewiring = blockedBy && (yield* rewiringTo(tx, task, patch, blockedBy))
    if (given.input !== undefined) updater?.checkInput(executor, given.input, given.name ?? task.name)
    refuseLateChange(task, patch)
    refuseIdlePolicy(patch, task.name, executor, task.group)
    const next = yield* withPatch(tx, task, given, ctx.at)
    const verb = status && verbTo(task, status, token, ctx, updater?.caller)

    // A write of the owner renews its lease; other writes do not.
    const saved = isOwner(task, token) ? renewed(next, ctx.at) : next
    yield* saveWhole(tx, saved)
    if (changed.includes('concurrency')) {
      yield* tx.task.setLanes(id, saved.policy.concurrency === undefined ? '' : id)
    }
    if (changed.length > 0) yield* tx.event.append(eventOf(ctx, 'task.updated', saved, { changed }))
    if (rewiring !== undefined) yield* writeRewiring(tx, rewiring, ctx)
    // The new policies may apply to what happened before: its dependencies failed, its children ended.
    if (changed.includes('onDependencyFailure')) yield* settleBlockers(tx, yield* loadTask(tx, id), ctx)
    if (verb !== undefined) yield* verb.decide(tx)
    if (changed.includes('autoComplete')) yield* settleByChildren(tx, id, ctx)
  })
}

/** The engine has set what a system task does: with another input, for example, it would sign what a caller has written. */
function refuseOtherWork({ id }: TaskRecord, changed: readonly string[]): void {
  const field = changed.find((each) => (workFields as readonly string[]).includes(each))
  if (field === undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `${id} is a system task: its ${field} cannot be changed. Cancel it, or create a task.`,
    {
      taskId: id,
      field,
    },
  )
}

function* rewiringTo(tx: Reads, task: TaskRecord, patch: TaskPatch, after: readonly string[]): Op<Rewiring> {
  refuseLateChange(task, patch)
  const before = yield* tx.dependency.blockers(task.id)
  return yield* loadRewiring(tx, task, {
    add: after.filter((blocker) => !before.includes(blocker)),
    remove: before.filter((blocker) => !after.includes(blocker)),
  })
}

/** The task with the row changes of the patch. @throws ErrandError INVALID_INPUT for a group that is given an executor */
function* withPatch(tx: Reads, task: TaskRecord, given: TaskPatch, at: number): Op<TaskRecord> {
  const policy: Record<string, unknown> = { ...task.policy }
  const changes: Record<string, unknown> = { policy }
  for (const [field, value] of Object.entries(given)) {
    if (value === undefined) continue
    if (!(policyFields as string[]).includes(field)) changes[field] = value
    else if (value === null) delete policy[field]
    else policy[field] = value
  }
  if (given.notBefore !== undefined && Number(given.notBefore ?? 0) <= at) changes.notBefore = null
  if (given.executor !== undefined) {
    // A task with an executor has no owner: a claim that rested (its task was paused, for example) ends.
    Object.assign(changes, { lane: yield* laneBelow(tx, task), owner: null, leaseMs: null })
  }
  return touched(task, at, changes)
}

/** @throws ErrandError CYCLE for a parent that is to be completed by a child that comes after it. */
function* requireEndingChildren(tx: Reads, id: string): Op<void> {
  const children = (yield* tx.task.children(id)).filter((child) => !isTerminal(child.status))
  const path = yield* tx.dependency.path(
    children.map((child) => child.id),
    new Set([id]),
  )
  if (path) throw cycleError(`${id} cannot be completed by its children`, [id, ...path])
}

/** The parent may limit how many of its children run. @throws ErrandError INVALID_INPUT for a group: its tasks are run, not the group. */
function* laneBelow(tx: Reads, task: TaskRecord): Op<string> {
  if (task.group) {
    throw new ErrandError(
      'INVALID_INPUT',
      `${task.id} is a group and cannot have an executor. Give one to its tasks.`,
      { taskId: task.id },
    )
  }
  if (task.system) return systemLane
  const parent = task.parentId === null ? undefined : yield* tx.task.get(task.parentId)
  return parent?.policy.concurrency === undefined ? '' : parent.id
}

function refuseLateChange(task: TaskRecord, patch: TaskPatch): void {
  const late = workFields.filter((field) => patch[field] !== undefined)
  const isDone = isTerminal(task.status) || awaitsChildren(task)
  if (late.length === 0 || (task.status !== 'working' && !isDone)) return
  throw new ErrandError(
    'INVALID_TRANSITION',
    `Cannot change ${late.join(', ')} of ${task.id}: ${awaitsChildren(task) ? 'its own work is done' : `it is ${task.status}`}. ${
      isDone ? 'Create a new task.' : 'Pause it first.'
    } Name, description, priority and metadata may change at any time.`,
    { taskId: task.id, from: task.status, event: 'update', allowed: ['name', 'description', 'priority', 'metadata'] },
  )
}

/** A named owner is the one who is to begin: refused for a task with an executor, and for one that another client works on. */
function requireAssignable(task: TaskRecord): void {
  const why = isByHand(task)
    ? task.status === 'submitted' || isReleased(task)
      ? undefined
      : `it is ${task.status}${task.owner === null ? '' : ` and ${task.owner} owns it`}; \`release\` it first`
    : task.group
      ? 'it is a group; name the owners of its tasks'
      : `its executor ${task.executor} runs it`
  if (why === undefined) return
  throw notClaimable(task, `name an owner for ${task.id}`, why, isByHand(task) ? 'owner' : 'executor')
}

/** The verb whose edge leads to a status. @throws ErrandError INVALID_TRANSITION if there is none. */
function verbTo(
  task: TaskRecord,
  status: TaskRecord['status'],
  token: ClaimToken | undefined,
  ctx: StepContext,
  caller: Caller | undefined,
): Step {
  const { id } = task
  switch (eventBetween(task.status, status)) {
    case 'start':
      return start(id, ctx)
    case 'pause':
      return pause(id, ctx)
    case 'resume':
      return resume(id, ctx)
    case 'complete':
      return caller === undefined
        ? complete(id, null, token, ctx)
        : guardChange(complete(id, null, token, ctx), id, 'complete', caller)
    case 'fail':
      return fail(id, { reason: noReason, code: 'TASK_FAILED' }, token, ctx)
    case 'cancel':
      return cancel(id, null, ctx)
    case 'retry':
      return retry(id, ctx)
    case 'answer':
      if (caller === undefined) return refuseTransition(task, 'update', status)
      return answer({ ...ctx, taskId: id, questionId: undefined, caller })
    case 'ask':
      return walkByHand(id, 'ask', token, ctx)
    case 'wait':
      return walkByHand(id, 'wait', token, ctx)
    case 'unblock':
      return walkByHand(id, 'unblock', token, ctx)
    case undefined:
      return refuseTransition(task, 'update', status)
  }
}

/** A task that is worked on by hand may be moved to the waiting states by hand; one with an executor gets there by its run. */
function walkByHand(id: string, event: TaskEventName, token: ClaimToken | undefined, ctx: StepContext): Step<void> {
  return step(event, function* (tx) {
    const task = yield* loadFree(tx, id, event)
    if (!isByHand(task)) {
      throw new ErrandError(
        'HAS_EXECUTOR',
        `Cannot ${event} ${id} by hand: ${task.executor === null ? 'it is a group' : `its executor ${task.executor} decides that`}.`,
        { taskId: id, executor: task.executor },
      )
    }
    requireOwner(task, token)
    yield* transition(tx, task, event, ctx)
  })
}
