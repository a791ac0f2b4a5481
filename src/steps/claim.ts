// Work done outside of the engine: a task without an executor is claimed, kept alive, and let go. One claim is one transaction,
// so of any number of claimers exactly one wins; a claim whose lease is over is closed by whoever comes next.

import { ErrandError } from '../core/errors.ts'
import type { TaskRecord } from '../entities/task.ts'
import { type ClaimFilter, type Op, type Reads, type Step, step, type Tx } from '../ledger/ledger.ts'
import { type ClaimToken, requireOwner } from '../machines/ownership.ts'
import { isByHand, obstacleOf } from '../machines/readiness.ts'
import { requireTransition } from '../machines/task-machine.ts'
import { renewed } from '../machines/task-transition.ts'
import { amend } from './amend.ts'
import { blocked, loadTask, type StepContext } from './step-context.ts'
import { transition } from './transition.ts'
import { endRest } from './wait.ts'
import { wayToWorking } from './walk.ts'

export interface ClaimRequest extends StepContext, ClaimFilter {
  /** Null: the best that may be claimed. */
  taskId: string | null
  owner: string
  leaseMs: number | undefined
  /** Which surface the claim came by. */
  source: string
}

/** Leases and timers that are closed on the way, at most: the rest falls to the next claim, or to a working engine's timer. */
const maxOverdue = 200

/**
 * Resolves to the task as this claim made it, or null when none may be claimed. Not to what is read later: by then it may be
 * somebody else's, and whoever passed that on would write in that one's name.
 */
export function claim(request: ClaimRequest): Step<TaskRecord | null> {
  return step('claim', function* (tx) {
    const { taskId, owner, source } = request
    const named = taskId === null ? undefined : yield* loadTask(tx, taskId)
    if (named !== undefined) {
      // Judged before others are freed: what is refused after it has written costs all that shares its commit.
      yield* endIfOver(tx, named, request)
      yield* requireClaimable(tx, yield* loadTask(tx, named.id), request)
    }
    yield* closeOverdue(tx, request)
    const from = yield* named === undefined ? tx.task.claimable(request) : loadTask(tx, named.id)
    if (from === undefined) return null
    const claimed = { owner, role: request.role ?? null, source }
    yield* transition(tx, from, wayToWorking[from.status] as 'start' | 'unblock', request, {
      set: { owner, fence: from.fence + 1, leaseMs: request.leaseMs ?? null, held: false, wakes: 0 },
      cause: { type: 'task.claimed', data: ({ fence, leaseUntil }) => ({ ...claimed, fence, leaseUntil }) },
      data: { owner },
    })
    // Read back, for its version.
    return yield* loadTask(tx, from.id)
  })
}

/** Ends claims whose lease is over, and frees tasks whose `notBefore` has passed without an engine that works telling them so. */
function* closeOverdue(tx: Tx, ctx: StepContext): Op<void> {
  const overdue = yield* tx.task.lapsed(ctx.at, maxOverdue)
  overdue.push(...(yield* tx.task.due(ctx.at, maxOverdue)).filter((task) => task.leaseUntil === null))
  for (const task of overdue) yield* endIfOver(tx, task, ctx)
}

/** By the time, and not by who claims: its events record nobody. */
function* endIfOver(tx: Tx, task: TaskRecord, { at, instanceId }: StepContext): Op<void> {
  const ctx: StepContext = { at, instanceId }
  if (isOver(task.leaseUntil, ctx.at)) yield* writeLapse(tx, task, ctx)
  else if (isOver(task.notBefore, ctx.at) && isByHand(task)) yield* endRest(tx, task, ctx)
}

function isOver(time: number | null, at: number): boolean {
  return time !== null && time <= at
}

function meets(task: TaskRecord, claim: ClaimFilter): boolean {
  return (
    !isMeantForAnother(task, claim) &&
    (task.role === null || task.role === claim.role) &&
    (claim.parentId === undefined || task.parentId === claim.parentId) &&
    (claim.tags ?? []).every((tag) => task.tags.includes(tag))
  )
}

/** It has been given to somebody who has not begun yet. */
function isMeantForAnother(task: TaskRecord, claim: ClaimFilter): boolean {
  return task.owner !== null && task.owner !== claim.owner
}

/** @throws ErrandError BLOCKED, NOT_CLAIMABLE, with what stands in the way and what would help. */
function* requireClaimable(tx: Reads, task: TaskRecord, request: ClaimRequest): Op<void> {
  const what = `claim ${task.id}`
  if (task.group) throw notClaimable(task, what, 'it is a group; claim one of its tasks', 'group')
  if (task.executor !== null) throw notClaimable(task, what, `its executor ${task.executor} runs it`, 'executor')
  const obstacle = obstacleOf(task)
  if (obstacle === 'blocked') {
    throw blocked(what, yield* tx.dependency.openBlockers(task.id), { taskId: task.id, status: task.status })
  }
  if (obstacle !== null) throw notClaimable(task, what, reasonOf(task), obstacle)
  if (meets(task, request)) return
  throw notClaimable(task, what, unmet(task, request), isMeantForAnother(task, request) ? 'owner' : 'role')
}

export function notClaimable(task: TaskRecord, what: string, why: string, reason: string): ErrandError {
  const { id: taskId, status, owner } = task
  return new ErrandError('NOT_CLAIMABLE', `Cannot ${what}: ${why}.`, { taskId, reason, status, owner })
}

function reasonOf(task: TaskRecord): string {
  const by = task.owner === null ? '' : ` by ${task.owner}`
  switch (task.status) {
    case 'working':
      return task.owner === null
        ? 'it is being worked on by hand (`fail` ends that, and `retry` then opens it to claims)'
        : `it is worked on${by}`
    case 'submitted':
      return 'its time has not come; `why` says when'
    case 'completed':
      return `it is completed${by}`
    case 'failed':
      return `it has failed${by}; \`retry\` opens it again`
    case 'canceled':
      return 'it was canceled'
    default:
      return `it is ${task.status}${by}; \`why\` says what it waits for`
  }
}

function unmet(task: TaskRecord, claim: ClaimFilter): string {
  if (isMeantForAnother(task, claim)) return `it is meant for ${task.owner}, and this claim is ${claim.owner}'s`
  if (task.role !== null && task.role !== claim.role)
    return `it is for the role ${task.role}, and this claim is ${claim.role === undefined ? 'for none; say yours with `role`' : `for ${claim.role}`}`
  return `it is not what this claim is for (${claim.parentId === undefined ? '' : `below ${claim.parentId}; `}tags ${(claim.tags ?? []).join(', ') || 'any'})`
}

/** A sign of life of the owner; the task as it is under this claim. */
export function heartbeat(id: string, quote: ClaimToken | undefined, ctx: StepContext): Step<TaskRecord> {
  return step('heartbeat', function* (tx) {
    const task = yield* loadTask(tx, id)
    requireClaim(task, quote, 'keep alive')
    yield* tx.task.save(renewed(task, ctx.at))
    return yield* loadTask(tx, id)
  })
}

/** The owner lets go: WORKING → WAITING, and anybody may claim it; a task that rests (paused, say) stays as it is, unowned. */
export function release(
  id: string,
  reason: string | null,
  quote: ClaimToken | undefined,
  ctx: StepContext,
): Step<void> {
  return step('release', function* (tx) {
    const task = yield* loadTask(tx, id)
    requireClaim(task, quote, 'release')
    yield* writeReleased(tx, task, 'released', { reason }, ctx)
  })
}

/** Somebody put it to work by hand, without a claim, and it goes back to where anybody may claim it: WORKING → WAITING, `released`. */
export function putBack(id: string, ctx: StepContext): Step<void> {
  return step('put back', function* (tx) {
    const task = yield* loadTask(tx, id)
    requireTransition(task, 'wait')
    const what = `put ${id} back`
    if (task.owner !== null) {
      throw notClaimable(task, what, `${task.owner} owns it, and \`release\` is its owner's`, 'owner')
    }
    if (!isByHand(task)) throw notClaimable(task, what, 'it is not worked on by hand', 'executor')
    yield* writeReleased(tx, task, 'released', { reason: null }, ctx)
  })
}

/** A claim that holds, quoted by its owner. One who has lost it hears that first, whatever has become of the task since. */
function requireClaim(task: TaskRecord, quote: ClaimToken | undefined, what: string): void {
  if (task.fence > 0 || task.owner !== null) requireOwner(task, quote)
  if (task.completedAt !== null) requireTransition(task, 'wait')
  if (task.owner !== null) return
  throw notClaimable(task, `${what} ${task.id}`, 'nobody has claimed it. `claim` it first', 'unclaimed')
}

/** The owner gave no sign of life for the length of its lease. */
export function* writeLapse(tx: Tx, task: TaskRecord, ctx: StepContext): Op<void> {
  yield* writeReleased(tx, task, 'interrupted', { reason: 'the lease is over', lapsed: true }, ctx)
}

type ReleaseReason = 'released' | 'interrupted'

/** A claim ends without an outcome. */
function* writeReleased(tx: Tx, task: TaskRecord, why: ReleaseReason, data: object, ctx: StepContext): Op<void> {
  const { owner, fence } = task
  const released = { owner, fence, ...data }
  if (task.status === 'working') {
    const cause = { type: 'task.released' as const, data: () => released }
    return void (yield* transition(tx, task, 'wait', ctx, { set: { ...unowned(why), wakes: 0 }, cause }))
  }
  yield* amend(tx, task, unowned(why), ctx, 'task.released', released)
}

/** A task that rests keeps the reason too: when it goes on, it waits for another owner (verbs.ts). */
const unowned = (why: ReleaseReason) => ({ owner: null, leaseMs: null, statusReason: why })
