// A change of a task on the board: fields, edges and state, in one transaction, all of it or nothing. Edges come before the state,
// so that completing a task and naming what comes after it in one breath leaves nobody blocked.

import type { TaskPatch } from '../api/options.ts'
import { ErrandError } from '../core/errors.ts'
import { type BoardRef, type BoardStatus, type BoardTask, boardStatusOf, workspaceOf } from '../entities/board.ts'
import { noReason, type TaskRecord } from '../entities/task.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { type ClaimToken, requireOwner } from '../machines/ownership.ts'
import { isByHand } from '../machines/readiness.ts'
import { cancel } from '../steps/cancel.ts'
import { putBack, release } from '../steps/claim.ts'
import { block, unblock } from '../steps/edges.ts'
import { retry } from '../steps/retry.ts'
import { notWithoutAnswer, refuseDetour } from '../steps/right-to-answer.ts'
import { refusePlanMark } from '../steps/right-to-run.ts'
import type { StepContext } from '../steps/step-context.ts'
import { update } from '../steps/update.ts'
import { complete, fail, resume, start } from '../steps/verbs.ts'
import { keepFields } from './board-fields.ts'
import type { BoardHost, BoardTarget } from './board-host.ts'
import { viewTask } from './board-view.ts'
import { claimFound, refuseBlocked } from './claim-task.ts'
import { withNumbers } from './ids-as-numbers.ts'
import { changeBoard } from './numbering.ts'
import { type Found, findAllOnBoard, findOnBoard, notAllowed, shownRef } from './task-ref.ts'
import { freedSince } from './unblocked-tasks.ts'

export interface BoardPatch {
  subject?: string | undefined
  description?: string | undefined
  /** null takes it away; the same for `workspace`. */
  activeForm?: string | null | undefined
  status?: BoardStatus | undefined
  /** Who shall claim a pending task; '' or null for nobody in particular. Where it says who works on it already, it changes nothing. */
  owner?: string | null | undefined
  priority?: number | undefined
  /** Merged key by key; null takes a key away. */
  metadata?: Record<string, unknown> | undefined
  role?: string | null | undefined
  tags?: string[] | undefined
  addBlockedBy?: readonly BoardRef[] | undefined
  addBlocks?: readonly BoardRef[] | undefined
  removeBlockedBy?: readonly BoardRef[] | undefined
  removeBlocks?: readonly BoardRef[] | undefined
  workspace?: string | null | undefined
  /** Keys of a file that nothing here has a word for; replaces those that were kept. */
  extra?: Record<string, unknown> | undefined
  /** What it came to: with `status: 'completed'`. */
  result?: unknown
  /** Why it failed, is released or deleted: with such a status. */
  reason?: string | undefined
}

/** Who writes. Without a name nothing is claimed: a task is put to work by hand, and only what nobody owns is completed. */
export interface Writer {
  as?: string | undefined
  /** Number of the claim; required where the claim has a lease. */
  fence?: number | undefined
  role?: string | undefined
  leaseMs?: number | undefined
  source: string
}

export interface Updated {
  task: BoardTask
  /** Tasks that came free by it, by number. */
  unblocked: BoardTask[]
}

/** A change of one task: what is asked for, by whom, and when. */
export interface Change {
  place: BoardTarget
  ref: BoardRef
  patch: BoardPatch
  writer: Writer
  ctx: StepContext
}

/** `require` judges the task as it is before. @throws ErrandError, with nothing of the change done. */
export function updateOnBoard(
  host: BoardHost,
  place: BoardTarget,
  ref: BoardRef,
  patch: BoardPatch,
  writer: Writer,
  require: (found: Found) => void = () => {},
): Promise<Updated> {
  return changeBoard(host, place, 'update on board', function* (tx, ctx) {
    const found = yield* findOnBoard(tx, place, ref)
    require(found)
    const change = { place, ref, patch, writer, ctx }
    const unblocked = yield* withNumbers(tx, place.board, applyPatch(tx, change))
    const after = yield* findOnBoard(tx, place, found.task.id)
    return { task: yield* viewTask(tx, place.board, after.task, after.entry), unblocked }
  })
}

/** Does all of a patch; resolves to the tasks that came free by it. */
export function* applyPatch(tx: Tx, change: Change): Op<BoardTask[]> {
  const { place, ref, patch, writer, ctx } = change
  const found = yield* findOnBoard(tx, place, ref)
  const before = yield* tx.event.last()
  refuseIdleWords(patch, writer)
  refuseBinding(found, patch, writer)
  yield* describe(tx, found, change, claimTokenFor(found.task, writer))
  yield* rewire(tx, found.task, change)
  const isFirst = patch.status !== undefined && patch.status !== 'pending'
  // Whoever acts in nobody's name begins a task in the name of its owner; one with a name begins it in its own.
  if (isFirst && writer.as === undefined && boardStatusOf(found.task) === 'pending')
    yield* assign(tx, found.task, patch, ctx)
  if (patch.status !== undefined) yield* walkTo(tx, patch.status, change)
  if (!isFirst) yield* assign(tx, found.task, patch, ctx)
  const after = yield* findOnBoard(tx, place, found.task.id)
  requireAsked(after, patch)
  yield* keepFields(tx, place, after, patch, ctx)
  return yield* freedSince(tx, place, before, found.task.id)
}

/** What would do nothing is not taken. */
function refuseIdleWords({ status, result, reason }: BoardPatch, { as, fence }: Writer): void {
  if (result !== undefined && status !== 'completed') throw idle('result', "say status 'completed' with it")
  if (reason !== undefined && (status === undefined || status === 'in_progress' || status === 'completed'))
    throw idle('reason', "it goes with status 'pending', 'failed' or 'deleted'")
  if (fence !== undefined && as === undefined) throw idle('fence', 'say with `as` whose claim it is')
}

function idle(field: string, advice: string): ErrandError {
  return new ErrandError('INVALID_INPUT', `\`${field}\` means nothing here: ${advice}`, { field })
}

/** What was asked for is what has come of it, or nothing of it is done. */
function requireAsked(found: Found, { owner, status }: BoardPatch): void {
  const { task } = found
  if (status !== undefined && boardStatusOf(task) !== status) {
    const why = `is ${task.status} and cannot become ${status} before it goes on: \`why\` says what it waits for`
    throw notAllowed(found, status, why)
  }
  if (owner === undefined || (owner ?? '') === (task.owner ?? '')) return
  throw new ErrandError(
    'NOT_OWNER',
    `Task ${shownRef(found)} would be ${task.owner ?? 'nobody'}'s and not ${owner || 'nobody'}'s: status ${status} is said by its owner. Leave \`owner\` out, or leave the status to ${owner || 'them'}`,
    { taskId: task.id, owner: task.owner },
  )
}

/** Who writes says its name and the number of its claim only about a task that is its own. */
export function claimTokenFor(task: TaskRecord, { as, fence }: Writer): ClaimToken | undefined {
  if (as === undefined || (task.owner === null && fence === undefined)) return undefined
  return { owner: as, ...(fence === undefined ? {} : { fence }) }
}

/** Whoever works on a task says what it is bound to. One that is claimed in the same breath is its claimer's. */
function refuseBinding({ task, entry }: Found, { workspace }: BoardPatch, writer: Writer): void {
  if (workspace === undefined || boardStatusOf(task) !== 'in_progress') return
  if ((workspace ?? undefined) === workspaceOf(task, entry?.fields ?? {})) return
  requireOwner(task, claimTokenFor(task, writer))
}

/** Its words: subject, description, priority, metadata, for whom it is. */
function* describe(tx: Tx, { task }: Found, { place, patch, ctx }: Change, quote: ClaimToken | undefined): Op<void> {
  const { subject, description, priority, metadata, role, tags } = patch
  const wanted: TaskPatch = {
    name: subject === task.name ? undefined : subject,
    description: description === task.description ? undefined : description,
    priority: priority === task.priority ? undefined : priority,
    metadata: metadata && merged(task.metadata, metadata),
    role: role === task.role ? undefined : role,
    tags: tags && [...new Set(tags)],
  }
  if (wanted.metadata !== undefined) refusePlanMark(task.metadata, wanted.metadata, place.caller)
  if (Object.values(wanted).some((value) => value !== undefined)) yield* update(task.id, wanted, quote, ctx).decide(tx)
}

function merged(metadata: Record<string, unknown>, changes: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(metadata).filter(([key]) => !Object.hasOwn(changes, key))
  const given = Object.entries(changes).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries([...kept, ...given])
}

/** Only what would change is asked for: an edge that is there already is no change, whatever the task is doing. */
function* rewire(tx: Tx, task: TaskRecord, { place, patch, ctx }: Change): Op<void> {
  const blockers = new Set((yield* tx.board.blockersOf(place.board, task.id)).map((each) => each.taskId))
  const dependents = new Set((yield* tx.board.dependentsOf(place.board, task.id)).map((each) => each.taskId))
  const idsOf = function* (refs: readonly BoardRef[] | undefined): Op<string[]> {
    return (yield* findAllOnBoard(tx, place, refs ?? [])).map(({ id }) => id)
  }
  const gone = (yield* idsOf(patch.removeBlockedBy)).filter((id) => blockers.delete(id))
  if (gone.length > 0) yield* notWithoutAnswer(unblock(task.id, gone, ctx), gone, place.caller).decide(tx)
  const freed = (yield* idsOf(patch.removeBlocks)).filter((each) => dependents.delete(each))
  for (const [at, id] of freed.entries()) {
    const change = unblock(id, [task.id], ctx)
    // All of them come after the same task: it is judged once.
    yield* (at === 0 ? notWithoutAnswer(change, [task.id], place.caller) : change).decide(tx)
  }
  const added = (yield* idsOf(patch.addBlockedBy)).filter((id) => !blockers.has(id))
  if (added.length > 0) yield* block(task.id, added, ctx).decide(tx)
  for (const id of (yield* idsOf(patch.addBlocks)).filter((each) => !dependents.has(each))) {
    yield* block(id, [task.id], ctx).decide(tx)
  }
}

/** Says who shall begin a pending task. */
function* assign(tx: Tx, { id }: TaskRecord, { owner }: BoardPatch, ctx: StepContext): Op<void> {
  if (owner === undefined) return
  const task = (yield* tx.task.get(id)) as TaskRecord
  const wanted = owner === '' ? null : owner
  if (wanted !== task.owner) yield* update(id, { owner: wanted }, undefined, ctx).decide(tx)
}

/** Walks legal edges to where the board's word is true. Where it is true already, nothing happens. */
function* walkTo(tx: Tx, wanted: BoardStatus, change: Change): Op<void> {
  const { place, ref, patch, writer, ctx } = change
  const found = yield* findOnBoard(tx, place, ref)
  const { task } = found
  const is = boardStatusOf(task)
  if (is === wanted) {
    if (wanted === 'in_progress') refuseAnothers(found, writer)
    if (wanted === 'completed') refuseAnotherResult(found, patch)
    return
  }
  if (is === 'completed' || is === 'deleted')
    throw notAllowed(found, wanted, `is ${is} and cannot become ${wanted}: create a new task instead`)
  if (is === 'failed') yield* retry(task.id, ctx).decide(tx)
  switch (wanted) {
    case 'pending':
      if (is === 'failed') return
      return yield* putDown(tx, yield* goOn(tx, task, ctx), patch.reason ?? null, writer, ctx)
    case 'in_progress':
      return yield* begin(tx, change)
    case 'completed':
    case 'failed': {
      if (wanted === 'completed') yield* refuseDetour(tx, task, 'complete', place.caller)
      const { task: begun, quote } = yield* requireBegun(tx, change)
      if (wanted === 'completed') return yield* complete(begun.id, patch.result ?? null, quote, ctx).decide(tx)
      const reason = patch.reason ?? noReason
      return yield* fail(begun.id, { reason, code: 'TASK_FAILED' }, quote, ctx).decide(tx)
    }
    case 'deleted':
      return yield* cancel(task.id, patch.reason ?? null, ctx).decide(tx)
  }
}

/** To begin is to claim, for whoever has a name; without one the task is worked on by hand, and it is anybody's to complete. */
function* begin(tx: Tx, { place, ref, patch, writer, ctx }: Change): Op<void> {
  const { as, leaseMs, source } = writer
  const found = yield* findOnBoard(tx, place, ref)
  yield* refuseBlocked(tx, place.board, found)
  const who = as ?? (patch.owner || undefined)
  if (who !== undefined) {
    // Whoever names an owner says by that who is fit for it; who acts in a name of its own says its role.
    const role = as === undefined ? (found.task.role ?? undefined) : writer.role
    yield* claimFound(tx, place, found, { as: who, role, leaseMs, source }, ctx)
    return
  }
  refuseMeantForOthers(found)
  const { id, status } = found.task
  if (status === 'waiting') yield* update(id, { status: 'working' }, undefined, ctx).decide(tx)
  else yield* start(id, ctx).decide(tx)
}

/** A task that rests is worked on by hand again; one that waits for an answer, or has an executor, goes on in its own way. */
function* goOn(tx: Tx, task: TaskRecord, ctx: StepContext): Op<TaskRecord> {
  if (!isByHand(task)) return task
  if (task.status === 'paused') yield* resume(task.id, ctx).decide(tx)
  else if (task.status === 'waiting') yield* update(task.id, { status: 'working' }, claimTokenOf(task), ctx).decide(tx)
  return (yield* tx.task.get(task.id)) as TaskRecord
}

/** In the name of its owner: whether that one writes is judged by what comes next. */
function claimTokenOf({ owner, fence }: TaskRecord): ClaimToken | undefined {
  return owner === null ? undefined : { owner, fence }
}

/** Its owner lets go of it; what nobody owns goes back to where anybody may claim it. */
export function* putDown(tx: Tx, task: TaskRecord, reason: string | null, writer: Writer, ctx: StepContext): Op<void> {
  if (boardStatusOf(task) === 'pending') return
  if (task.owner === null) return yield* putBack(task.id, ctx).decide(tx)
  yield* release(task.id, reason, claimTokenFor(task, writer), ctx).decide(tx)
}

/** The task at work, so that it may end: one that is pending is begun first, one that rests goes on. */
function* requireBegun(tx: Tx, change: Change): Op<{ task: TaskRecord; quote: ClaimToken | undefined }> {
  const { place, ref, writer, ctx } = change
  const found = yield* findOnBoard(tx, place, ref)
  const atWork = boardStatusOf(found.task) === 'pending' ? found.task : yield* goOn(tx, found.task, ctx)
  if (boardStatusOf(atWork) !== 'pending') return { task: atWork, quote: claimTokenFor(atWork, writer) }
  refuseMeantForOthers(found, writer)
  // No lease: it ends at once.
  yield* begin(tx, { ...change, writer: { ...writer, leaseMs: undefined } })
  const begun = (yield* findOnBoard(tx, place, ref)).task
  return { task: begun, quote: claimTokenOf(begun) }
}

export function refuseMeantForOthers(found: Found, { as }: Partial<Writer> = {}): void {
  const { id, owner } = found.task
  if (owner === null || owner === as) return
  throw new ErrandError(
    'NOT_OWNER',
    `Task ${shownRef(found)} is meant for ${owner}: only its owner begins or completes it`,
    { taskId: id, owner },
  )
}

/** In progress already: fine for who works on it, a refusal for anybody else. */
function refuseAnothers(found: Found, { as, fence }: Writer): void {
  const { task } = found
  const mine = task.owner !== null && task.owner === as && (fence === undefined || fence === task.fence)
  if (mine || (task.owner === null && as === undefined)) return
  throw new ErrandError(
    'NOT_CLAIMABLE',
    `Task ${shownRef(found)} is in_progress already${task.owner === null ? '' : `, and ${task.owner} owns it`}`,
    { taskId: task.id, reason: 'running', status: task.status, owner: task.owner },
  )
}

/** What a task came to stands: said again it is no news, another one would be lost. */
function refuseAnotherResult(found: Found, { result }: BoardPatch): void {
  const { result: known, owner } = found.task
  if (result === undefined || JSON.stringify(result) === JSON.stringify(known ?? null)) return
  const by = owner === null ? '' : `, by ${owner}`
  throw notAllowed(found, 'complete', `is completed already${by}: its result stands. Create a new task instead`)
}
