// Completes a team's task from any status, along the edges of the transition table and without a run: its agents have worked on it in
// their stints.

import { ErrandError } from '../../core/errors.ts'
import { canonicalJson } from '../../core/json.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import { type ClaimToken, requireOwner } from '../../machines/ownership.ts'
import { refuseTransition } from '../../machines/transition-table.ts'
import { startGroupsAbove } from '../../operations/steps/groups-above.ts'
import type { StepContext } from '../../operations/steps/step-context.ts'
import { complete } from '../../operations/steps/task-lifecycle.ts'
import { walkToWorking } from '../../operations/steps/walk.ts'

/**
 * Completes a task as a part of another step; does nothing if it is already completed. Ends an open run.
 *
 * @param result The result as JSON; undefined for none.
 * @param by The owner and its claim.
 * @throws ErrandError NOT_OWNER, STALE_CLAIM for another owner's task; INVALID_TRANSITION for a failed or canceled task, and for another
 *   result than the stored one; BLOCKED { blockedBy }.
 */
export function* completeFromAnyStatus(
  tx: Tx,
  task: TaskRecord,
  result: unknown,
  by: ClaimToken | undefined,
  ctx: StepContext,
): Op<void> {
  // For a task without an owner a name without a fence is not checked.
  const token = task.owner === null && by?.fence === undefined ? undefined : by
  requireOwner(task, token)
  if (task.status === 'completed') return requireSameResult(task, result)
  if (task.status === 'failed' || task.status === 'canceled') refuseTransition(task, 'complete')
  if (task.status !== 'working') {
    yield* refuseBlocked(tx, task)
    const working = yield* walkToWorking(tx, task, ctx)
    if (task.status === 'submitted') yield* startGroupsAbove(tx, working, ctx)
  }
  yield* complete(task.id, result ?? null, token, ctx).decide(tx)
}

/** The result of a completed task is final: the same result again is accepted, another one is refused. */
export function requireSameResult(task: TaskRecord, result: unknown): void {
  if (result === undefined || canonicalJson(result) === canonicalJson(task.result ?? null)) return
  throw new ErrandError(
    'INVALID_TRANSITION',
    `Cannot complete ${task.id} with another result: it is completed, and its result is final. Leave \`result\` out to close its team.`,
    { taskId: task.id, from: task.status, event: 'complete', allowed: [] },
  )
}

function* refuseBlocked(tx: Tx, task: TaskRecord): Op<void> {
  if (task.openBlockers === 0) return
  const blockedBy = yield* tx.dependency.openBlockers(task.id)
  throw new ErrandError(
    'BLOCKED',
    `Cannot complete ${task.id}: it is blocked by ${blockedBy.join(', ')}, which must be completed first.`,
    { taskId: task.id, status: task.status, blockedBy },
  )
}
