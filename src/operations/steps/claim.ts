// Work outside the engine: a task without an executor is claimed, kept alive and released. A claim is one transaction, so of any number of
// claimants exactly one succeeds. The next claim closes claims whose lease is over.

import { ErrandError } from '../../core/errors.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { all, type ClaimFilter, type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { renewed } from '../../machines/changed-task.ts'
import { type ClaimToken, requireOwner } from '../../machines/ownership.ts'
import { isByHand, obstacleOf } from '../../machines/readiness.ts'
import { requireTransition, wayToWorking } from '../../machines/task-edges.ts'
import { amend } from './amend.ts'
import { searchNeeded } from './claim-search.ts'
import { blocked, loadTask, loadToChange, type StepContext } from './step-context.ts'
import { transition } from './transition.ts'
import { endRest } from './wait.ts'

export interface ClaimRequest extends StepContext, ClaimFilter {
  /** Null: the best claimable task. */
  taskId: string | null
  owner: string
  leaseMs: number | undefined
  /** The surface through which the claim came. */
  source: string
  /** The tasks that a search has found; undefined: no search was made. */
  among?: readonly string[] | undefined
}

/** The maximum of leases and timers that one claim closes. The next claim, or the timer of a working engine, closes the rest. */
const maxOverdue = 200
/** The maximum of claimable tasks that a step looks at. */
const maxLookedAt = 2_000

/**
 * Returns the task as this claim left it, or null when none is claimable. The task is not read again after the commit: another client may
 * own it by then, and a caller with that row would write in the name of that owner.
 */
export function claim(request: ClaimRequest): Step<TaskRecord | null> {
  return step('claim', function* (tx) {
    const { taskId, owner, source } = request
    const named = taskId === null ? undefined : yield* loadToChange(tx, taskId)
    if (named !== undefined) {
      // Checked before other tasks are freed: a refusal after a write makes the whole group commit run again.
      yield* endIfOver(tx, named, request)
      yield* requireClaimable(tx, yield* loadTask(tx, named.id), request)
    }
    const freed = yield* closeOverdue(tx, request)
    const from = yield* named === undefined ? findBest(tx, request, freed) : loadTask(tx, named.id)
    if (from === undefined) return null
    const claimed = { owner, role: request.role ?? null, source }
    yield* transition(tx, from, wayToWorking(from.status) as 'start' | 'unblock', request, {
      set: { owner, fence: from.fence + 1, leaseMs: request.leaseMs ?? null, held: false, wakes: 0 },
      cause: { type: 'task.claimed', data: ({ fence, leaseUntil }) => ({ ...claimed, fence, leaseUntil }) },
      data: { owner },
    })
    // Read back for its version.
    return yield* loadTask(tx, from.id)
  })
}

/**
 * The best claimable task, or the best of those that a search has found.
 * @throws SearchNeeded
 */
function* findBest(tx: Reads, request: ClaimRequest, freed: readonly string[]): Op<TaskRecord | undefined> {
  const { among } = request
  while (among === undefined) {
    const [best] = (yield* tx.task.claimable(request, 1, maxLookedAt)) ?? searchNeeded(request)
    const task = best && (yield* tx.task.get(best.id))
    // On a server a search locks nothing: another process may have changed the task until this step has.
    if (task?.version === best?.version) return task
  }
  const found: TaskRecord[] = []
  for (const id of [...among, ...freed]) {
    const task = yield* tx.task.get(id)
    if (task?.claimable === true && meets(task, request) && (yield* isBelow(tx, id, request.below))) found.push(task)
  }
  // Other claims took them all: there may be more.
  if (found.length === 0 && among.length > 0) return searchNeeded(request)
  return found.sort((a, b) => b.priority - a.priority || a.seq - b.seq)[0]
}

function* isBelow(tx: Reads, id: string, root: string | undefined): Op<boolean> {
  return root === undefined || (yield* tx.task.ancestors(id)).some((above) => above.id === root)
}

/** Ends claims whose lease is over, and frees tasks whose `notBefore` has passed while no engine worked. Returns their ids. */
function* closeOverdue(tx: Tx, ctx: StepContext): Op<string[]> {
  const [lapsed, due] = yield* all([tx.task.lapsed(ctx.at, maxOverdue), tx.task.due(ctx.at, maxOverdue)])
  const overdue = [...lapsed, ...due.filter((task) => task.leaseUntil === null)].map(({ id }) => id)
  for (const id of overdue) {
    // On a server a list locks nothing: another process may have closed the claim meanwhile.
    const task = yield* tx.task.get(id)
    if (task !== undefined) yield* endIfOver(tx, task, ctx)
  }
  return overdue
}

/** The time ends it, not the claimant: its events record no requester. */
function* endIfOver(tx: Tx, task: TaskRecord, { at, instanceId }: StepContext): Op<void> {
  const ctx: StepContext = { at, instanceId }
  if (isOver(task.leaseUntil, ctx.at)) yield* writeLapse(tx, task, ctx)
  else if (isOver(task.notBefore, ctx.at) && isByHand(task)) yield* endRest(tx, task, ctx)
}

/** A time that is set has come. */
export function isOver(time: number | null | undefined, at: number): boolean {
  return typeof time === 'number' && time <= at
}

function meets(task: TaskRecord, claim: ClaimFilter): boolean {
  return (
    !isMeantForAnother(task, claim) &&
    (task.role === null || task.role === claim.role) &&
    (claim.parentId === undefined || task.parentId === claim.parentId) &&
    (claim.tags ?? []).every((tag) => task.tags.includes(tag))
  )
}

/** The task has an assignee who has not begun. */
function isMeantForAnother(task: TaskRecord, claim: ClaimFilter): boolean {
  return task.owner !== null && task.owner !== claim.owner
}

/** @throws ErrandError BLOCKED or NOT_CLAIMABLE, with the reason and what would help */
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
      return 'its `notBefore` has not passed; `why` shows the time'
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
    return `it is for the role ${task.role}, and this claim ${claim.role === undefined ? 'names no role; pass `role`' : `is for ${claim.role}`}`
  return `it does not match this claim (${claim.parentId === undefined ? '' : `below ${claim.parentId}; `}tags ${(claim.tags ?? []).join(', ') || 'any'})`
}

/** Renews the lease of the owner. Returns the task under this claim. */
export function heartbeat(id: string, token: ClaimToken | undefined, ctx: StepContext): Step<TaskRecord> {
  return step('heartbeat', function* (tx) {
    const task = yield* loadTask(tx, id)
    requireClaim(task, token, 'keep alive')
    yield* tx.task.save(renewed(task, ctx.at))
    return yield* loadTask(tx, id)
  })
}

/**
 * The owner releases the task: WORKING → WAITING, claimable by all. A task that rests (for example paused) keeps its state without an
 * owner.
 */
export function release(
  id: string,
  reason: string | null,
  token: ClaimToken | undefined,
  ctx: StepContext,
): Step<void> {
  return step('release', function* (tx) {
    const task = yield* loadTask(tx, id)
    requireClaim(task, token, 'release')
    yield* writeReleased(tx, task, 'released', { reason }, ctx)
  })
}

/** A task that was started by hand without a claim becomes claimable: WORKING → WAITING, `released`. */
export function putBack(id: string, ctx: StepContext): Step<void> {
  return step('put back', function* (tx) {
    const task = yield* loadTask(tx, id)
    requireTransition(task, 'wait')
    const what = `put ${id} back`
    if (task.owner !== null) {
      throw notClaimable(task, what, `${task.owner} owns it and must \`release\` it`, 'owner')
    }
    if (!isByHand(task)) throw notClaimable(task, what, 'it is not worked on by hand', 'executor')
    yield* writeReleased(tx, task, 'released', { reason: null }, ctx)
  })
}

/** Checks the claim token of the owner. A lost claim is reported first, whatever state the task has reached since. */
function requireClaim(task: TaskRecord, token: ClaimToken | undefined, what: string): void {
  if (task.fence > 0 || task.owner !== null) requireOwner(task, token)
  if (task.completedAt !== null) requireTransition(task, 'wait')
  if (task.owner !== null) return
  throw notClaimable(task, `${what} ${task.id}`, 'no client has claimed it; `claim` it first', 'unclaimed')
}

/** Records that the owner sent no heartbeat within its lease. */
export function* writeLapse(tx: Tx, task: TaskRecord, ctx: StepContext): Op<void> {
  yield* writeReleased(tx, task, 'interrupted', { reason: 'the lease is over', lapsed: true }, ctx)
}

type ReleaseReason = 'released' | 'interrupted'

/** Ends a claim without an outcome. */
function* writeReleased(tx: Tx, task: TaskRecord, why: ReleaseReason, data: object, ctx: StepContext): Op<void> {
  const { owner, fence } = task
  const released = { owner, fence, ...data }
  if (task.status === 'working') {
    const cause = { type: 'task.released' as const, data: () => released }
    return void (yield* transition(tx, task, 'wait', ctx, { set: { ...unowned(why), wakes: 0 }, cause }))
  }
  yield* amend(tx, task, unowned(why), ctx, 'task.released', released)
}

/** A task that rests keeps the reason too: after its rest it waits for another owner (verbs.ts). */
const unowned = (why: ReleaseReason) => ({ owner: null, leaseMs: null, statusReason: why })
