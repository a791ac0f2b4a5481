// A task that its team has worked on is completed from wherever it stands, along the edges of the table and without a run: whoever
// worked on it did so in stints of agents.

import { ErrandError } from '../core/errors.ts'
import { canonicalJson } from '../core/json.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { type ClaimToken, requireOwner } from '../machines/ownership.ts'
import { refuseTransition } from '../machines/task-machine.ts'
import { startGroupsAbove } from '../steps/groups-above.ts'
import type { StepContext } from '../steps/step-context.ts'
import { complete } from '../steps/verbs.ts'
import { walkToWorking } from '../steps/walk.ts'

/**
 * Completes a task as a part of another step; one that is completed already stays as it is. An open run of it ends.
 *
 * @param result What it came to, as JSON; undefined: nothing is said of it.
 * @param by Who completes it, and under which claim.
 * @throws ErrandError NOT_OWNER, STALE_CLAIM for somebody else's; INVALID_TRANSITION for one that has failed or was canceled, and for
 *   another result than the one that stands; BLOCKED { blockedBy }.
 */
export function* walkToCompleted(
  tx: Tx,
  task: TaskRecord,
  result: unknown,
  by: ClaimToken | undefined,
  ctx: StepContext,
): Op<void> {
  // A name alone says nothing about a task that is nobody's.
  const quote = task.owner === null && by?.fence === undefined ? undefined : by
  requireOwner(task, quote)
  if (task.status === 'completed') return requireSameResult(task, result)
  if (task.status === 'failed' || task.status === 'canceled') refuseTransition(task, 'complete')
  if (task.status !== 'working') {
    yield* refuseBlocked(tx, task)
    const working = yield* walkToWorking(tx, task, ctx)
    if (task.status === 'submitted') yield* startGroupsAbove(tx, working, ctx)
  }
  yield* complete(task.id, result ?? null, quote, ctx).decide(tx)
}

/** What a task came to stands: said again it is no news, another one would be lost. */
export function requireSameResult(task: TaskRecord, result: unknown): void {
  if (result === undefined || canonicalJson(result) === canonicalJson(task.result ?? null)) return
  throw new ErrandError(
    'INVALID_TRANSITION',
    `Cannot complete ${task.id} with another result: it is completed, and its result stands. Leave \`result\` out to close its team.`,
    { taskId: task.id, from: task.status, event: 'complete', allowed: [] },
  )
}

function* refuseBlocked(tx: Tx, task: TaskRecord): Op<void> {
  if (task.openBlockers === 0) return
  const blockedBy = yield* tx.dependency.openBlockers(task.id)
  throw new ErrandError(
    'BLOCKED',
    `Cannot complete ${task.id}: it comes after ${blockedBy.join(', ')}, which must be completed first.`,
    { taskId: task.id, status: task.status, blockedBy },
  )
}
