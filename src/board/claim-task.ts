// Claims on the board: one task, or the best there is, for one agent. Told in the board's numbers.

import { ErrandError } from '../core/errors.ts'
import { type BoardRef, type BoardTask, boardStatusOf } from '../entities/board.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { ClaimFilter, Op, Reads, Tx } from '../ledger/ledger.ts'
import { claim } from '../steps/claim.ts'
import { requireWithin } from '../steps/conditions.ts'
import type { StepContext } from '../steps/step-context.ts'
import { bindWorkspace } from './board-fields.ts'
import type { BoardHost, BoardTarget } from './board-host.ts'
import { viewTask } from './board-view.ts'
import { withNumbers } from './ids-as-numbers.ts'
import { changeBoard } from './numbering.ts'
import { type Found, findOnBoard, shownRef } from './task-ref.ts'

/** Who claims, and on what terms. */
export interface Claimant {
  as: string
  role?: string | undefined
  leaseMs?: number | undefined
  /** Which surface it came by: for the claim log. */
  source: string
  /** Directory or worktree that is bound to the task while it is in progress. */
  workspace?: string | undefined
}

export interface NextClaim extends Claimant {
  parent?: BoardRef | undefined
  tags?: string[] | undefined
}

/** @throws ErrandError BLOCKED, NOT_CLAIMABLE, with the numbers of what stands in the way, and who owns it. */
export function claimOnBoard(
  host: BoardHost,
  place: BoardTarget,
  ref: BoardRef,
  claimant: Claimant,
): Promise<BoardTask> {
  return changeBoard(host, place, 'claim on board', function* (tx, ctx) {
    const task = yield* claimFound(tx, place, yield* findOnBoard(tx, place, ref), claimant, ctx)
    return yield* viewTask(tx, place.board, task)
  })
}

/** The best that may be claimed: highest priority, then oldest; null when there is none. */
export function claimNext(host: BoardHost, place: BoardTarget, next: NextClaim): Promise<BoardTask | null> {
  return changeBoard(host, place, 'claim next on board', (tx, ctx) => claimBest(tx, place, next, ctx))
}

/** Claims the best there is as a part of another step. */
export function* claimBest(tx: Tx, place: BoardTarget, next: NextClaim, ctx: StepContext): Op<BoardTask | null> {
  const filter = yield* claimFilterOf(tx, place, next)
  const { leaseMs, source, workspace } = next
  const task = yield* claim({ ...ctx, ...filter, taskId: null, owner: next.as, leaseMs, source }).decide(tx)
  if (task === null) return null
  if (workspace !== undefined) yield* bindWorkspace(tx, place, task, workspace, ctx)
  return yield* viewTask(tx, place.board, task)
}

/** Which tasks such a claim may come to. */
export function* claimFilterOf(tx: Reads, place: BoardTarget, next: NextClaim): Op<ClaimFilter> {
  const top = (yield* tx.board.get(place.board))?.parentId ?? undefined
  return {
    owner: next.as,
    parentId: next.parent === undefined ? undefined : (yield* findOnBoard(tx, place, next.parent)).task.id,
    below: yield* lowerOf(tx, place.caller.taskId, top),
    role: next.role,
    tags: next.tags,
  }
}

/** Whichever of the two is below the other. @throws ErrandError FORBIDDEN for a board that holds nothing of the caller's. */
function* lowerOf(tx: Reads, own: string | undefined, top: string | undefined): Op<string | undefined> {
  if (own === undefined || top === undefined) return own ?? top
  if ((yield* tx.task.ancestors(top)).some(({ id }) => id === own)) return top
  yield* requireWithin(tx, top, [own])
  return own
}

/** Claims a task as a part of another step. */
export function* claimFound(
  tx: Tx,
  place: BoardTarget,
  found: Found,
  { as, role, leaseMs, source, workspace }: Claimant,
  ctx: StepContext,
): Op<TaskRecord> {
  yield* refuseBlocked(tx, place.board, found)
  const request = { ...ctx, taskId: found.task.id, owner: as, leaseMs, source, role }
  const claimed = (yield* withNumbers(tx, place.board, claim(request).decide(tx))) as TaskRecord
  if (workspace !== undefined) yield* bindWorkspace(tx, place, claimed, workspace, ctx)
  return claimed
}

/** @throws ErrandError BLOCKED with the numbers of the tasks that must be completed first. */
export function* refuseBlocked(tx: Reads, board: string, found: Found): Op<void> {
  const { task } = found
  if (task.openBlockers === 0 || boardStatusOf(task) !== 'pending') return
  const open = (yield* tx.board.blockersOf(board, task.id)).filter((each) => each.open)
  const numbers = open.map(({ number, taskId }) => number ?? taskId)
  throw new ErrandError(
    'BLOCKED',
    `Task ${shownRef(found)} is blocked by [${numbers.join(', ')}]: complete ${numbers.length === 1 ? 'it' : 'them'} first`,
    { taskId: task.id, status: task.status, blockedBy: open.map((each) => each.taskId), numbers },
  )
}
