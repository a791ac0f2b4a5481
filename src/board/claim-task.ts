// Claims on the board: a given task, or the best available one.

import { ErrandError } from '../core/errors.ts'
import { type BoardRef, type BoardTask, boardStatusOf } from '../entities/board.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { ClaimFilter, Op, Reads, Tx } from '../ledger/ledger.ts'
import { type ClaimRequest, claim } from '../operations/steps/claim.ts'
import { claimSearching } from '../operations/steps/claim-search.ts'
import { requireWithin } from '../operations/steps/conditions.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import { bindWorkspace } from './board-fields.ts'
import type { BoardHost, BoardTarget } from './board-host.ts'
import { viewTask } from './board-view.ts'
import { withNumbers } from './ids-as-numbers.ts'
import { changeBoard } from './numbering.ts'
import { type Found, findOnBoard, shownRef } from './task-ref.ts'

/** The claimant and its terms. */
export interface Claimant {
  as: string
  role?: string | undefined
  leaseMs?: number | undefined
  /** The surface of the claim, for the claim log. */
  source: string
  /** Directory or worktree bound to the task while it is in progress. */
  workspace?: string | undefined
}

export interface NextClaim extends Claimant {
  parent?: BoardRef | undefined
  tags?: string[] | undefined
}

/** Claims a task. @throws ErrandError BLOCKED, NOT_CLAIMABLE, naming the blockers or the owner. */
export function claimOnBoard(
  host: BoardHost,
  target: BoardTarget,
  ref: BoardRef,
  claimant: Claimant,
): Promise<BoardTask> {
  return changeBoard(host, target, 'claim on board', function* (tx, ctx) {
    const task = yield* claimFound(tx, target, yield* findOnBoard(tx, target, ref), claimant, ctx)
    return yield* viewTask(tx, target.board, task)
  })
}

/** Claims the best available task: highest priority, then oldest. Resolves to null when there is none. */
export function claimNext(host: BoardHost, target: BoardTarget, next: NextClaim): Promise<BoardTask | null> {
  return claimSearching(host, (among) =>
    changeBoard(host, target, 'claim next on board', (tx, ctx) => claimBest(tx, target, { ...next, among }, ctx)),
  )
}

/** `claimNext` as a part of another step. @throws what `claimSearching` catches */
export function* claimBest(
  tx: Tx,
  target: BoardTarget,
  next: NextClaim & Pick<ClaimRequest, 'among'>,
  ctx: StepContext,
): Op<BoardTask | null> {
  const filter = yield* claimFilterOf(tx, target, next)
  const { leaseMs, source, workspace, among } = next
  const task = yield* claim({ ...ctx, ...filter, taskId: null, owner: next.as, leaseMs, source, among }).decide(tx)
  if (task === null) return null
  if (workspace !== undefined) yield* bindWorkspace(tx, target, task, workspace, ctx)
  return yield* viewTask(tx, target.board, task)
}

/** The filter that selects the tasks of such a claim. */
export function* claimFilterOf(tx: Reads, target: BoardTarget, next: NextClaim): Op<ClaimFilter> {
  const top = (yield* tx.board.get(target.board))?.parentId ?? undefined
  return {
    owner: next.as,
    parentId: next.parent === undefined ? undefined : (yield* findOnBoard(tx, target, next.parent)).task.id,
    below: yield* lowerOf(tx, target.caller.taskId, top),
    role: next.role,
    tags: next.tags,
  }
}

/** Returns whichever of the two tasks is below the other. @throws ErrandError FORBIDDEN when the board lies outside the caller's task. */
function* lowerOf(tx: Reads, own: string | undefined, top: string | undefined): Op<string | undefined> {
  if (own === undefined || top === undefined) return own ?? top
  if ((yield* tx.task.ancestors(top)).some(({ id }) => id === own)) return top
  yield* requireWithin(tx, top, [own])
  return own
}

/** `claimOnBoard` as a part of another step. */
export function* claimFound(
  tx: Tx,
  target: BoardTarget,
  found: Found,
  { as, role, leaseMs, source, workspace }: Claimant,
  ctx: StepContext,
): Op<TaskRecord> {
  yield* refuseBlocked(tx, target.board, found)
  const request = { ...ctx, taskId: found.task.id, owner: as, leaseMs, source, role }
  const claimed = (yield* withNumbers(tx, target.board, claim(request).decide(tx))) as TaskRecord
  if (workspace !== undefined) yield* bindWorkspace(tx, target, claimed, workspace, ctx)
  return claimed
}

/** @throws ErrandError BLOCKED with the numbers of the open blockers. */
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
