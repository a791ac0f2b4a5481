// Moves a task on the board to a status, along legal edges of the task machine.
import { ErrandError } from '../core/errors.ts'
import { type BoardStatus, boardStatusOf } from '../entities/board.ts'
import { noReason, type TaskRecord } from '../entities/task.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { type ClaimToken, requireOwner } from '../machines/ownership.ts'
import { isByHand } from '../machines/readiness.ts'
import { putBack, release } from '../operations/steps/claim.ts'
import { retry } from '../operations/steps/retry.ts'
import { requireRightToChange } from '../operations/steps/right-to-answer.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import { cancel, complete, fail, resume, start } from '../operations/steps/task-lifecycle.ts'
import { update } from '../operations/steps/update.ts'
import { type BoardPatch, type Change, claimTokenFor, isOwnTask, type Writer } from './board-patch.ts'
import { claimFound, refuseBlocked } from './claim-task.ts'
import { type Found, findOnBoard, notAllowed, shownRef } from './task-ref.ts'

/** Moves the task along legal edges to the given board status; does nothing if it has that already. */
export function* moveToStatus(tx: Tx, wanted: BoardStatus, change: Change): Op<void> {
  const { target, ref, patch, writer, ctx } = change
  const found = yield* findOnBoard(tx, target, ref)
  const { task } = found
  const is = boardStatusOf(task)
  if (is === wanted) {
    if (wanted === 'in_progress') refuseIfClaimedByOther(found, writer)
    if (wanted === 'completed') refuseOtherResult(found, patch)
    return
  }
  if (is === 'completed' || is === 'deleted')
    throw notAllowed(found, wanted, `is ${is} and cannot become ${wanted}: create a new task instead`)
  if (is === 'failed') yield* retry(task.id, ctx).decide(tx)
  switch (wanted) {
    case 'pending':
      if (is === 'failed') return
      return yield* returnToPending(tx, yield* continueByHand(tx, task, ctx), patch.reason ?? null, writer, ctx)
    case 'in_progress':
      return yield* startWork(tx, change)
    case 'completed':
    case 'failed': {
      if (wanted === 'completed') yield* requireRightToChange(tx, task, 'complete', target.caller)
      const { task: begun, token } = yield* ensureStarted(tx, change)
      if (wanted === 'completed') return yield* complete(begun.id, patch.result ?? null, token, ctx).decide(tx)
      const reason = patch.reason ?? noReason
      return yield* fail(begun.id, { reason, code: 'TASK_FAILED' }, token, ctx).decide(tx)
    }
    case 'deleted':
      return yield* cancel(task.id, patch.reason ?? null, ctx).decide(tx)
  }
}

/** Starts a task: with a name by claiming it, without one by hand, and then any client can complete it. */
function* startWork(tx: Tx, { target, ref, patch, writer, ctx }: Change): Op<void> {
  const { as, leaseMs, source } = writer
  const found = yield* findOnBoard(tx, target, ref)
  yield* refuseBlocked(tx, target.board, found)
  const who = as ?? (patch.owner || undefined)
  if (who !== undefined) {
    // Naming an owner implies that its role fits; a writer with a name of its own is checked by its own role.
    const role = as === undefined ? (found.task.role ?? undefined) : writer.role
    yield* claimFound(tx, target, found, { as: who, role, leaseMs, source }, ctx)
    return
  }
  requireOwner(found.task, undefined)
  const { id, status } = found.task
  if (status === 'waiting') yield* update(id, { status: 'working' }, undefined, ctx).decide(tx)
  else yield* start(id, ctx).decide(tx)
}

/** Resumes a resting task that is worked on by hand; one that waits for an answer, or has an executor, is left to the engine. */
function* continueByHand(tx: Tx, task: TaskRecord, ctx: StepContext): Op<TaskRecord> {
  if (!isByHand(task)) return task
  if (task.status === 'paused') yield* resume(task.id, ctx).decide(tx)
  else if (task.status === 'waiting') yield* update(task.id, { status: 'working' }, claimTokenOf(task), ctx).decide(tx)
  return (yield* tx.task.get(task.id)) as TaskRecord
}

/** The owner's token. Whether the writer is the owner is checked by the next step. */
function claimTokenOf({ owner, fence }: TaskRecord): ClaimToken | undefined {
  return owner === null ? undefined : { owner, fence }
}

/** Releases the task of an owner; returns a task without an owner to the claimable ones. */
export function* returnToPending(
  tx: Tx,
  task: TaskRecord,
  reason: string | null,
  writer: Writer,
  ctx: StepContext,
): Op<void> {
  if (boardStatusOf(task) === 'pending') return
  if (task.owner === null) return yield* putBack(task.id, ctx).decide(tx)
  yield* release(task.id, reason, claimTokenFor(task, writer), ctx).decide(tx)
}

/** Makes sure that the task is in progress, so that it can end: starts a pending one, resumes a resting one. */
function* ensureStarted(tx: Tx, change: Change): Op<{ task: TaskRecord; token: ClaimToken | undefined }> {
  const { target, ref, writer, ctx } = change
  const found = yield* findOnBoard(tx, target, ref)
  const atWork = boardStatusOf(found.task) === 'pending' ? found.task : yield* continueByHand(tx, found.task, ctx)
  if (boardStatusOf(atWork) !== 'pending') return { task: atWork, token: claimTokenFor(atWork, writer) }
  requireOwner(found.task, claimTokenFor(found.task, writer))
  // Without a lease: the task ends in this transaction.
  yield* startWork(tx, { ...change, writer: { ...writer, leaseMs: undefined } })
  const begun = (yield* findOnBoard(tx, target, ref)).task
  return { task: begun, token: claimTokenOf(begun) }
}

/** Accepts a task in progress of the writer's own, and refuses any other. */
function refuseIfClaimedByOther(found: Found, writer: Writer): void {
  const { task } = found
  if (isOwnTask(task, writer)) return
  throw new ErrandError(
    'NOT_CLAIMABLE',
    `Task ${shownRef(found)} is already in_progress${task.owner === null ? '' : `, and ${task.owner} owns it`}`,
    { taskId: task.id, reason: 'running', status: task.status, owner: task.owner },
  )
}

/** The result of a completed task is final: the same result again is accepted, another one is refused. */
function refuseOtherResult(found: Found, { result }: BoardPatch): void {
  const { result: known, owner } = found.task
  if (result === undefined || JSON.stringify(result) === JSON.stringify(known ?? null)) return
  const by = owner === null ? '' : `, by ${owner}`
  throw notAllowed(found, 'complete', `is already completed${by}: its result is final. Create a new task instead`)
}
