// What the owner of a task does with it on the board: complete it, let go of it, stay alive; and taking one off for good.

import { ErrandError } from '../core/errors.ts'
import { type BoardRef, type BoardTask, boardStatusOf } from '../entities/board.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { ClaimToken } from '../machines/ownership.ts'
import { heartbeat } from '../steps/claim.ts'
import { type ChildrenPolicy, deleteTask } from '../steps/delete.ts'
import { notDeletingQuestions } from '../steps/right-to-answer.ts'
import type { StepContext } from '../steps/step-context.ts'
import { update } from '../steps/update.ts'
import { keepFields } from './board-fields.ts'
import type { BoardHost, BoardTarget } from './board-host.ts'
import { viewTask } from './board-view.ts'
import { withNumbers } from './ids-as-numbers.ts'
import { changeBoard } from './numbering.ts'
import { type Found, findOnBoard, notAllowed, shownRef } from './task-ref.ts'
import { freedSince } from './unblocked-tasks.ts'
import { putDown, refuseMeantForOthers, type Updated, updateOnBoard, type Writer } from './update-task.ts'

/**
 * Said again by the same owner, it is no news.
 * @throws ErrandError INVALID_TRANSITION for a task that nobody works on; NOT_OWNER, STALE_CLAIM for somebody else's.
 */
export function completeOnBoard(
  host: BoardHost,
  place: BoardTarget,
  ref: BoardRef,
  result: unknown,
  writer: Writer,
): Promise<Updated> {
  const require = (found: Found) => requireAtWork(found, writer)
  return updateOnBoard(host, place, ref, { status: 'completed', result }, writer, require)
}

function requireAtWork(found: Found, { as, fence }: Writer): void {
  const { task } = found
  const status = boardStatusOf(task)
  const isOwn = task.owner === (as ?? null) && (fence === undefined || fence === task.fence)
  if (status === 'in_progress' || (status === 'completed' && isOwn)) return
  const why = {
    pending: 'pending: claim it before you complete it',
    failed: 'failed: set it to pending to try it again, then claim it',
    completed: `completed already${task.owner === null ? '' : `, by ${task.owner}`}`,
    deleted: 'deleted: create a new task instead',
  }[status]
  throw notAllowed(found, 'complete', `is ${why}`, status === 'pending' ? ['claim'] : [])
}

/** @throws ErrandError INVALID_TRANSITION for a task that nobody has claimed; NOT_OWNER, STALE_CLAIM for somebody else's. */
export function releaseOnBoard(
  host: BoardHost,
  place: BoardTarget,
  ref: BoardRef,
  reason: string | undefined,
  writer: Writer,
): Promise<BoardTask> {
  return changeBoard(host, place, 'release on board', function* (tx, ctx) {
    const found = yield* findOnBoard(tx, place, ref)
    yield* withNumbers(tx, place.board, released(tx, found, reason ?? null, writer, ctx))
    yield* keepFields(tx, place, yield* findOnBoard(tx, place, found.task.id), { workspace: null }, ctx)
    const { task, entry } = yield* findOnBoard(tx, place, found.task.id)
    return yield* viewTask(tx, place.board, task, entry)
  })
}

/** A task that rests (paused, say) stays as it is, unowned: whoever wanted it to rest did not ask for another owner. */
function* released(tx: Tx, found: Found, reason: string | null, writer: Writer, ctx: StepContext): Op<void> {
  requireHeld(found)
  const { task } = found
  if (boardStatusOf(task) !== 'pending') return yield* putDown(tx, task, reason, writer, ctx)
  if (writer.as !== undefined) refuseMeantForOthers(found, writer)
  yield* update(task.id, { owner: null }, undefined, ctx).decide(tx)
}

function requireHeld(found: Found): void {
  const status = boardStatusOf(found.task)
  if (status === 'in_progress' || (status === 'pending' && found.task.owner !== null)) return
  throw notAllowed(found, 'release', `is ${status}: there is no claim to let go of`)
}

/** @throws ErrandError STALE_CLAIM, NOT_OWNER, NOT_CLAIMABLE */
export function heartbeatOnBoard(
  host: BoardHost,
  place: BoardTarget,
  ref: BoardRef,
  quote: ClaimToken,
): Promise<BoardTask> {
  return changeBoard(host, place, 'heartbeat on board', function* (tx, ctx) {
    const found = yield* findOnBoard(tx, place, ref)
    const task = yield* withNumbers(tx, place.board, heartbeat(found.task.id, quote, ctx).decide(tx))
    return yield* viewTask(tx, place.board, task, found.entry)
  })
}

/** Resolves to what it was called, and to the tasks that came free by it. */
export function deleteFromBoard(
  host: BoardHost,
  place: BoardTarget,
  ref: BoardRef,
  children: ChildrenPolicy,
): Promise<{ ref: BoardRef; unblocked: BoardTask[] }> {
  return changeBoard(host, place, 'delete from board', function* (tx, ctx) {
    const found = yield* findOnBoard(tx, place, ref)
    const { id } = found.task
    yield* refuseEscape(tx, place, found.task, children)
    const before = yield* tx.event.last()
    const deletion = notDeletingQuestions(deleteTask(id, children, ctx), id, place.caller)
    yield* withNumbers(tx, place.board, deletion.decide(tx))
    return { ref: shownRef(found), unblocked: yield* freedSince(tx, place, before, id) }
  })
}

/** A bounded caller stays below its task, and so does all that it makes: parts that became roots would outlive it. */
function* refuseEscape(tx: Tx, { caller }: BoardTarget, task: TaskRecord, children: ChildrenPolicy): Op<void> {
  if (caller.taskId === undefined) return
  if (task.id === caller.taskId) {
    throw new ErrandError('FORBIDDEN', `${task.id} may not take itself off the board: cancel it, or end its work.`, {
      taskId: task.id,
      scope: caller.taskId,
    })
  }
  if (children !== 'promote' || (yield* tx.task.children(task.id)).length === 0) return
  throw new ErrandError(
    'FORBIDDEN',
    `The parts of ${task.id} would become roots, which ${caller.taskId} may not make. Delete with children: 'cascade'.`,
    { taskId: task.id, scope: caller.taskId },
  )
}
