// Work done outside of the engine: a task without an executor is claimed, kept alive, and let go. One claim is one transaction,
// so of any number of claimers exactly one wins; a claim whose lease is over is closed by whoever comes next.

import type { TaskRecord } from '../entities/task.ts'
import { ErrandError } from '../errors.ts'
import { inThree } from '../ledger/in-three.ts'
import type { ClaimFilter, Op, Reads, Step, Tx } from '../ledger/ledger.ts'
import { type Quote, requireOwner } from '../machines/ownership.ts'
import { isByHand, obstacleOf } from '../machines/readiness.ts'
import { requireTransition } from '../machines/task-machine.ts'
import { moved, renewed, touched } from '../machines/task-transition.ts'
import { eventOf, loadTask, type Moment } from './moment.ts'
import { startGroupsAbove, wayToWorking } from './settle-family.ts'

export interface ClaimRequest extends Moment, ClaimFilter {
  /** Null: the best that may be claimed. */
  taskId: string | null
  owner: string
  leaseMs: number | undefined
  /** Which surface the claim came by. */
  source: string
}

/** Leases and timers that are closed on the way, at most: the rest falls to the next claim, or to a working engine's timer. */
const mostOverdue = 200

interface Loaded {
  lapsed: TaskRecord[]
  /** Their `notBefore` has passed, and no engine that works has told them so. */
  due: TaskRecord[]
  candidate: TaskRecord | undefined
  blockers: string[]
  /** Of the lapsed and the due those that the claim may come to. */
  inReach: ReadonlySet<string>
}

interface Verdict {
  lapsed: Lapse[]
  begun: TaskRecord[]
  /** As it is before; undefined when there is none to claim. */
  from: TaskRecord | undefined
  task: TaskRecord | undefined
}

/**
 * Resolves to the task as this claim made it, or null when none may be claimed. Not to what is read later: by then it may be
 * somebody else's, and whoever passed that on would write in that one's name.
 */
export function claim(request: ClaimRequest): Step<TaskRecord | null> {
  return inThree<Loaded, Verdict, TaskRecord | null>({
    name: 'claim',
    *load(tx): Op<Loaded> {
      const { at, taskId } = request
      const lapsed = yield* tx.task.lapsed(at, mostOverdue)
      const due = (yield* tx.task.due(at, mostOverdue)).filter((task) => isByHand(task) && task.leaseUntil === null)
      if (taskId === null) {
        const inReach = yield* inReachOf(tx, [...lapsed, ...due], request.below)
        return { lapsed, due, candidate: yield* tx.task.claimable(request), blockers: [], inReach }
      }
      const candidate = yield* loadTask(tx, taskId)
      // The one that is asked for is judged in any case, however many are overdue before it.
      if (isOverdue(candidate.leaseUntil, at) && !has(lapsed, candidate)) lapsed.push(candidate)
      if (isOverdue(candidate.notBefore, at) && isByHand(candidate) && !has([...due, ...lapsed], candidate))
        due.push(candidate)
      const blockers = candidate.openBlockers === 0 ? [] : yield* tx.dependency.openBlockers(taskId)
      return { lapsed, due, candidate, blockers, inReach: new Set() }
    },
    judge: (loaded) => judgeClaim(loaded, request),
    *write(tx, { lapsed, begun, from, task }): Op<TaskRecord | null> {
      for (const each of lapsed) yield* writeLapse(tx, each, request)
      for (const each of begun) {
        yield* tx.task.save(each)
        if (each.completedAt === null) yield* tx.event.append(eventOf(request, 'timer.fired', each))
      }
      if (from === undefined || task === undefined) return null
      yield* tx.task.save(task)
      yield* tx.event.append(eventOf(request, 'task.claimed', task, claimData(task, request)))
      yield* tx.event.append(
        eventOf(request, 'task.started', task, {
          from: from.status,
          attempt: task.attempt,
          owner: task.owner,
        }),
      )
      yield* startGroupsAbove(tx, task, request)
      // Read back, for its version: what has lapsed on the way was written before.
      return yield* loadTask(tx, task.id)
    },
  })
}

function* inReachOf(tx: Reads, tasks: readonly TaskRecord[], below: string | undefined): Op<Set<string>> {
  const found = new Set<string>()
  for (const { id } of tasks) {
    if (below === undefined || (yield* tx.task.ancestors(id)).some((above) => above.id === below)) found.add(id)
  }
  return found
}

function isOverdue(time: number | null, at: number): boolean {
  return time !== null && time <= at
}

function has(tasks: readonly TaskRecord[], task: TaskRecord): boolean {
  return tasks.some((each) => each.id === task.id)
}

function judgeClaim({ lapsed, due, candidate, blockers, inReach }: Loaded, request: ClaimRequest): Verdict {
  const lapses = lapsed.map((task) => lapse(task, request.at))
  const begun = due.map((task) => touched(task, request.at, { notBefore: null }))
  const freed = [...lapses.map(({ after }) => after), ...begun]
  let from: TaskRecord | undefined
  if (request.taskId === null) {
    const mine = freed.filter((task) => task.claimable && inReach.has(task.id) && meets(task, request))
    from = [...(candidate ? [candidate] : []), ...mine].sort((a, b) => b.priority - a.priority || a.seq - b.seq)[0]
  } else {
    from = freed.find((task) => task.id === request.taskId) ?? candidate
    requireClaimable(from as TaskRecord, blockers, request)
  }
  if (from === undefined) return { lapsed: lapses, begun, from, task: undefined }
  const task = moved(from, wayToWorking[from.status] as 'start' | 'unblock', request.at, {
    owner: request.owner,
    fence: from.fence + 1,
    leaseMs: request.leaseMs ?? null,
    held: false,
    wakes: 0,
  })
  return { lapsed: lapses, begun, from, task }
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

function claimData(task: TaskRecord, request: ClaimRequest): Record<string, unknown> {
  return {
    owner: request.owner,
    role: request.role ?? null,
    source: request.source,
    fence: task.fence,
    leaseUntil: task.leaseUntil,
  }
}

/** @throws ErrandError BLOCKED, NOT_CLAIMABLE, with what stands in the way and what would help. */
function requireClaimable(task: TaskRecord, blockers: readonly string[], request: ClaimRequest): void {
  if (!isByHand(task)) {
    throw new ErrandError(
      'NOT_CLAIMABLE',
      `Cannot claim ${task.id}: ${task.group ? 'it is a group; claim one of its tasks' : `its executor ${task.executor} runs it`}.`,
      { taskId: task.id, reason: task.group ? 'group' : 'executor', status: task.status, owner: null },
    )
  }
  const obstacle = obstacleOf(task)
  if (obstacle === 'blocked') {
    throw new ErrandError(
      'BLOCKED',
      `Cannot claim ${task.id}: it comes after ${blockers.join(', ')}, which must be completed first.`,
      { taskId: task.id, status: task.status, blockedBy: [...blockers] },
    )
  }
  const missed = obstacle === null && !meets(task, request) ? unmet(task, request) : undefined
  if (obstacle === null && missed === undefined) return
  const what = missed ?? reasonOf(task)
  throw new ErrandError('NOT_CLAIMABLE', `Cannot claim ${task.id}: ${what}.`, {
    taskId: task.id,
    reason: missed === undefined ? obstacle : isMeantForAnother(task, request) ? 'owner' : 'role',
    status: task.status,
    owner: task.owner,
  })
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
export function heartbeat(id: string, quote: Quote | undefined, moment: Moment): Step<TaskRecord> {
  return inThree<TaskRecord, TaskRecord, TaskRecord>({
    name: 'heartbeat',
    load: (tx) => loadTask(tx, id),
    judge(task) {
      requireClaim(task, quote, 'keep alive')
      return renewed(task, moment.at)
    },
    *write(tx, task): Op<TaskRecord> {
      yield* tx.task.save(task)
      return yield* loadTask(tx, id)
    },
  })
}

/** The owner lets go: WORKING → WAITING, and anybody may claim it; a task that rests (paused, say) stays as it is, unowned. */
export function release(id: string, reason: string | null, quote: Quote | undefined, moment: Moment): Step<void> {
  return inThree<TaskRecord, Lapse, void>({
    name: 'release',
    load: (tx) => loadTask(tx, id),
    judge(task) {
      requireClaim(task, quote, 'release')
      return letGo(task, 'released', moment.at)
    },
    write: (tx, lapse) => writeLetGo(tx, lapse, { reason }, moment),
  })
}

/** Somebody put it to work by hand, without a claim, and it goes back to where anybody may claim it: WORKING → WAITING, `released`. */
export function putBack(id: string, moment: Moment): Step<void> {
  return inThree<TaskRecord, Lapse, void>({
    name: 'put back',
    load: (tx) => loadTask(tx, id),
    judge(task) {
      requireTransition(task, 'wait')
      if (isByHand(task) && task.owner === null) return letGo(task, 'released', moment.at)
      throw new ErrandError(
        'NOT_CLAIMABLE',
        `Cannot put ${id} back: ${task.owner === null ? 'it is not worked on by hand' : `${task.owner} owns it, and \`release\` is its owner's`}.`,
        { taskId: id, reason: task.owner === null ? 'executor' : 'owner', status: task.status, owner: task.owner },
      )
    },
    write: (tx, lapse) => writeLetGo(tx, lapse, { reason: null }, moment),
  })
}

/** A claim that holds, quoted by its owner. One who has lost it hears that first, whatever has become of the task since. */
function requireClaim(task: TaskRecord, quote: Quote | undefined, what: string): void {
  if (task.fence > 0 || task.owner !== null) requireOwner(task, quote)
  if (task.completedAt !== null) requireTransition(task, 'wait')
  if (task.owner !== null) return
  throw new ErrandError('NOT_CLAIMABLE', `Cannot ${what} ${task.id}: nobody has claimed it. \`claim\` it first.`, {
    taskId: task.id,
    reason: 'unclaimed',
    status: task.status,
    owner: null,
  })
}

/** A claim that ends without an outcome: the task as it was and as it is. */
export interface Lapse {
  before: TaskRecord
  after: TaskRecord
}

/** The owner gave no sign of life for the length of its lease. */
export function lapse(task: TaskRecord, at: number): Lapse {
  return letGo(task, 'interrupted', at)
}

function letGo(task: TaskRecord, why: 'released' | 'interrupted', at: number): Lapse {
  const nobody = { owner: null, leaseMs: null }
  const after =
    task.status === 'working'
      ? moved(task, 'wait', at, { ...nobody, statusReason: why, wakes: 0 })
      : // Whoever lets it go on finds nobody at work on it (verbs.ts).
        touched(task, at, { ...nobody, statusReason: why })
  return { before: task, after }
}

export function* writeLapse(tx: Tx, lapse: Lapse, moment: Moment): Op<void> {
  yield* writeLetGo(tx, lapse, { reason: 'the lease is over', lapsed: true }, moment)
}

function* writeLetGo(tx: Tx, { before, after }: Lapse, data: Record<string, unknown>, moment: Moment): Op<void> {
  yield* tx.task.save(after)
  yield* tx.event.append(eventOf(moment, 'task.released', after, { owner: before.owner, fence: before.fence, ...data }))
  if (before.status !== 'working') return
  yield* tx.event.append(
    eventOf(moment, 'task.waiting', after, { from: 'working', run: after.run, reason: after.statusReason }),
  )
}
