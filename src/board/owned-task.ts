// What an owner does with its task on the board: complete, release, heartbeat. And deleting a task.

import { readForProgram } from '../bus/read-principal.ts'
import { ErrandError } from '../core/errors.ts'
import { type BoardRef, type BoardTask, boardStatusOf } from '../entities/board.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { type ClaimToken, requireOwner } from '../machines/ownership.ts'
import { heartbeat } from '../operations/steps/claim.ts'
import { type ChildrenPolicy, deleteTask } from '../operations/steps/delete.ts'
import { guardDeletion } from '../operations/steps/right-to-answer.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import { update } from '../operations/steps/update.ts'
import { saveBoardFields } from './board-fields.ts'
import type { BoardHost, BoardTarget } from './board-host.ts'
import { claimTokenFor, isOwnTask, type Writer } from './board-patch.ts'
import { viewTask } from './board-view.ts'
import type { Claimant } from './claim-task.ts'
import { withNumbers } from './ids-as-numbers.ts'
import { returnToPending } from './move-to-status.ts'
import { changeBoard } from './numbering.ts'
import { type Found, findOnBoard, notAllowed, shownRef } from './task-ref.ts'
import { unblockedBy } from './unblocked-tasks.ts'
import { type Updated, updateOnBoard } from './update-task.ts'

/**
 * Completes a task. A second call by the same owner changes nothing.
 * @throws ErrandError INVALID_TRANSITION for a task that is not in progress; NOT_OWNER, STALE_CLAIM for another owner's.
 */
export function completeOnBoard(
  host: BoardHost,
  target: BoardTarget,
  ref: BoardRef,
  result: unknown,
  writer: Writer,
): Promise<Updated> {
  const require = (found: Found) => requireAtWork(found, writer)
  return updateOnBoard(host, target, ref, { status: 'completed', result }, writer, require)
}

function requireAtWork(found: Found, writer: Writer): void {
  const { task } = found
  const status = boardStatusOf(task)
  if (status === 'in_progress' || (status === 'completed' && isOwnTask(task, writer))) return
  const why = {
    pending: 'pending: claim it before you complete it',
    failed: 'failed: set it to pending to try it again, then claim it',
    completed: `already completed${task.owner === null ? '' : `, by ${task.owner}`}`,
    deleted: 'deleted: create a new task instead',
  }[status]
  throw notAllowed(found, 'complete', `is ${why}`, status === 'pending' ? ['claim'] : [])
}

/** Releases a task. @throws ErrandError INVALID_TRANSITION for an unclaimed task; NOT_OWNER, STALE_CLAIM for another owner's. */
export function releaseOnBoard(
  host: BoardHost,
  target: BoardTarget,
  ref: BoardRef,
  reason: string | undefined,
  writer: Writer,
): Promise<BoardTask> {
  return changeBoard(host, target, 'release on board', function* (tx, ctx) {
    const found = yield* findOnBoard(tx, target, ref)
    yield* withNumbers(tx, target.board, released(tx, found, reason ?? null, writer, ctx))
    yield* saveBoardFields(tx, target, yield* findOnBoard(tx, target, found.task.id), { workspace: null }, ctx)
    const { task, entry } = yield* findOnBoard(tx, target, found.task.id)
    return yield* viewTask(tx, target.board, task, entry)
  })
}

/** Releases a claim of which its owner does not know: for the program, because reads of a request end with it. */
export async function giveBackClaim(
  host: BoardHost,
  target: BoardTarget,
  { taskId, fence }: BoardTask,
  { as, source }: Pick<Claimant, 'as' | 'source'>,
  reason: string,
): Promise<{ task: BoardTask }> {
  const writer = { as, fence, source }
  return { task: await readForProgram(() => releaseOnBoard(host, target, taskId, reason, writer)) }
}

/** A resting task (a paused one, say) loses its owner and keeps its state: its pause is independent of the claim. */
function* released(tx: Tx, found: Found, reason: string | null, writer: Writer, ctx: StepContext): Op<void> {
  requireHeld(found)
  const { task } = found
  if (boardStatusOf(task) !== 'pending') return yield* returnToPending(tx, task, reason, writer, ctx)
  if (writer.as !== undefined) requireOwner(task, claimTokenFor(task, writer))
  yield* update(task.id, { owner: null }, undefined, ctx).decide(tx)
}

function requireHeld(found: Found): void {
  const status = boardStatusOf(found.task)
  if (status === 'in_progress' || (status === 'pending' && found.task.owner !== null)) return
  throw notAllowed(found, 'release', `is ${status}: it has no claim to release`)
}

/** Renews the lease of a claim. @throws ErrandError STALE_CLAIM, NOT_OWNER, NOT_CLAIMABLE */
export function heartbeatOnBoard(
  host: BoardHost,
  target: BoardTarget,
  ref: BoardRef,
  token: ClaimToken,
): Promise<BoardTask> {
  return changeBoard(host, target, 'heartbeat on board', function* (tx, ctx) {
    const found = yield* findOnBoard(tx, target, ref)
    const task = yield* withNumbers(tx, target.board, heartbeat(found.task.id, token, ctx).decide(tx))
    return yield* viewTask(tx, target.board, task, found.entry)
  })
}

/** Deletes a task. Resolves to its reference and the tasks that this unblocked. */
export function deleteFromBoard(
  host: BoardHost,
  target: BoardTarget,
  ref: BoardRef,
  children: ChildrenPolicy,
): Promise<{ ref: BoardRef; unblocked: BoardTask[] }> {
  return changeBoard(host, target, 'delete from board', function* (tx, ctx) {
    const found = yield* findOnBoard(tx, target, ref)
    const { id } = found.task
    yield* refuseEscape(tx, target, found.task, children)
    const deletion = guardDeletion(deleteTask(id, children, ctx), id, target.caller)
    const part = withNumbers(tx, target.board, deletion.decide(tx))
    return { ref: shownRef(found), unblocked: yield* unblockedBy(tx, target, part, id) }
  })
}

/** A caller with a task may not delete that task, nor turn tasks below it into roots, which would be out of its reach. */
function* refuseEscape(tx: Tx, { caller }: BoardTarget, task: TaskRecord, children: ChildrenPolicy): Op<void> {
  if (caller.taskId === undefined) return
  if (task.id === caller.taskId) {
    throw new ErrandError('FORBIDDEN', `${task.id} may not delete itself from the board. Cancel it, or end its work.`, {
      taskId: task.id,
      scope: caller.taskId,
    })
  }
  if (children !== 'promote' || (yield* tx.task.children(task.id)).length === 0) return
  throw new ErrandError(
    'FORBIDDEN',
    `Without ${task.id}, its children would become roots, and ${caller.taskId} may not create roots. To delete the children too, pass children: 'cascade'.`,
    { taskId: task.id, scope: caller.taskId },
  )
}
