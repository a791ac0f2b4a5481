// Changes a task on the board: fields, edges and status, in one transaction, all or nothing. Edges are changed before the status, so
// that completing a task in the same call that adds dependents does not block them.

import { ErrandError } from '../core/errors.ts'
import { type BoardRef, type BoardTask, boardStatusOf, workspaceOf } from '../entities/board.ts'
import type { TaskPatch } from '../entities/options.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { type ClaimToken, requireOwner } from '../machines/ownership.ts'
import { block, unblock } from '../operations/steps/dependencies.ts'
import { guardUnblock } from '../operations/steps/right-to-answer.ts'
import { refusePlanMark } from '../operations/steps/right-to-run.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import { update } from '../operations/steps/update.ts'
import { saveBoardFields } from './board-fields.ts'
import type { BoardHost, BoardTarget } from './board-host.ts'
import { type BoardPatch, type Change, claimTokenFor, refuseIgnoredFields, type Writer } from './board-patch.ts'
import { viewTask } from './board-view.ts'
import { withNumbers } from './ids-as-numbers.ts'
import { moveToStatus } from './move-to-status.ts'
import { changeBoard } from './numbering.ts'
import { type Found, findAllOnBoard, findOnBoard, notAllowed, shownRef } from './task-ref.ts'
import { unblockedBy } from './unblocked-tasks.ts'

export interface Updated {
  task: BoardTask
  /** Tasks that this unblocked, by number. */
  unblocked: BoardTask[]
}

/** Changes a task. `require` checks it before the change. @throws ErrandError, with nothing changed. */
export function updateOnBoard(
  host: BoardHost,
  target: BoardTarget,
  ref: BoardRef,
  patch: BoardPatch,
  writer: Writer,
  require: (found: Found) => void = () => {},
): Promise<Updated> {
  return changeBoard(host, target, 'update on board', function* (tx, ctx) {
    const found = yield* findOnBoard(tx, target, ref)
    require(found)
    const change = { target, ref, patch, writer, ctx }
    const unblocked = yield* withNumbers(tx, target.board, applyPatch(tx, change))
    const after = yield* findOnBoard(tx, target, found.task.id)
    return { task: yield* viewTask(tx, target.board, after.task, after.entry), unblocked }
  })
}

/** Applies a whole patch; returns the tasks that this unblocked. */
export function* applyPatch(tx: Tx, change: Change): Op<BoardTask[]> {
  const { target, ref, patch, writer } = change
  const found = yield* findOnBoard(tx, target, ref)
  refuseIgnoredFields(patch, writer)
  requireOwnerToBind(found, patch, writer)
  return yield* unblockedBy(tx, target, changeTask(tx, found, change), found.task.id)
}

function* changeTask(tx: Tx, found: Found, change: Change): Op<void> {
  const { target, patch, writer, ctx } = change
  yield* updateFields(tx, found, change, claimTokenFor(found.task, writer))
  yield* updateEdges(tx, found.task, change)
  const isFirst = patch.status !== undefined && patch.status !== 'pending'
  // A writer without a name starts the task in the name of its owner; one with a name starts it in its own.
  if (isFirst && writer.as === undefined && boardStatusOf(found.task) === 'pending')
    yield* assign(tx, found.task, patch, ctx)
  if (patch.status !== undefined) yield* moveToStatus(tx, patch.status, change)
  if (!isFirst) yield* assign(tx, found.task, patch, ctx)
  const after = yield* findOnBoard(tx, target, found.task.id)
  requireOutcome(after, patch)
  yield* saveBoardFields(tx, target, after, patch, ctx)
}

/** Rejects the whole change if its result does not have the requested status and owner. */
function requireOutcome(found: Found, { owner, status }: BoardPatch): void {
  const { task } = found
  if (status !== undefined && boardStatusOf(task) !== status) {
    const why = `is ${task.status} and cannot become ${status} until it continues: \`why\` shows what it waits for`
    throw notAllowed(found, status, why)
  }
  if (owner === undefined || (owner ?? '') === (task.owner ?? '')) return
  throw new ErrandError(
    'NOT_OWNER',
    `Task ${shownRef(found)} would belong to ${task.owner ?? 'no owner'} instead of ${owner || 'no owner'}: status ${status} is set by its owner. Leave \`owner\` out, or leave the status to ${owner || 'its owner'}`,
    { taskId: task.id, owner: task.owner },
  )
}

/** Only the owner changes the workspace of a task in progress. A task claimed by the same patch belongs to its claimant by then. */
function requireOwnerToBind({ task, entry }: Found, { workspace }: BoardPatch, writer: Writer): void {
  if (workspace === undefined || boardStatusOf(task) !== 'in_progress') return
  if ((workspace ?? undefined) === workspaceOf(task, entry?.fields ?? {})) return
  requireOwner(task, claimTokenFor(task, writer))
}

/** Updates the texts and attributes: subject, description, priority, metadata, role, tags. */
function* updateFields(
  tx: Tx,
  { task }: Found,
  { target, patch, ctx }: Change,
  token: ClaimToken | undefined,
): Op<void> {
  const { subject, description, priority, metadata, role, tags } = patch
  const wanted: TaskPatch = {
    name: subject === task.name ? undefined : subject,
    description: description === task.description ? undefined : description,
    priority: priority === task.priority ? undefined : priority,
    metadata: metadata && merged(task.metadata, metadata),
    role: role === task.role ? undefined : role,
    tags: tags && [...new Set(tags)],
  }
  if (wanted.metadata !== undefined) refusePlanMark(task.metadata, wanted.metadata, target.caller)
  if (Object.values(wanted).some((value) => value !== undefined)) yield* update(task.id, wanted, token, ctx).decide(tx)
}

function merged(metadata: Record<string, unknown>, changes: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(metadata).filter(([key]) => !Object.hasOwn(changes, key))
  const given = Object.entries(changes).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries([...kept, ...given])
}

/** Adds and removes edges. An edge that exists already is not a change, so it is accepted in any state of the task. */
function* updateEdges(tx: Tx, task: TaskRecord, { target, patch, ctx }: Change): Op<void> {
  const blockers = new Set((yield* tx.board.blockersOf(target.board, task.id)).map((each) => each.taskId))
  const dependents = new Set((yield* tx.board.dependentsOf(target.board, task.id)).map((each) => each.taskId))
  const idsOf = function* (refs: readonly BoardRef[] | undefined): Op<string[]> {
    return (yield* findAllOnBoard(tx, target, refs ?? [])).map(({ id }) => id)
  }
  const removed = (yield* idsOf(patch.removeBlockedBy)).filter((id) => blockers.delete(id))
  if (removed.length > 0) yield* guardUnblock(unblock(task.id, removed, ctx), removed, target.caller).decide(tx)
  const freed = (yield* idsOf(patch.removeBlocks)).filter((each) => dependents.delete(each))
  for (const [at, id] of freed.entries()) {
    const change = unblock(id, [task.id], ctx)
    // All of them wait for the same task, so the right to answer is checked once.
    yield* (at === 0 ? guardUnblock(change, [task.id], target.caller) : change).decide(tx)
  }
  const added = (yield* idsOf(patch.addBlockedBy)).filter((id) => !blockers.has(id))
  if (added.length > 0) yield* block(task.id, added, ctx).decide(tx)
  for (const id of (yield* idsOf(patch.addBlocks)).filter((each) => !dependents.has(each))) {
    yield* block(id, [task.id], ctx).decide(tx)
  }
}

/** Sets the owner of a pending task. */
function* assign(tx: Tx, { id }: TaskRecord, { owner }: BoardPatch, ctx: StepContext): Op<void> {
  if (owner === undefined) return
  const task = (yield* tx.task.get(id)) as TaskRecord
  const wanted = owner === '' ? null : owner
  if (wanted !== task.owner) yield* update(id, { owner: wanted }, undefined, ctx).decide(tx)
}
