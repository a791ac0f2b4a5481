// The rules of claims, pure: who may write to a claimed task, and whose claim is stale. The number of the claim is the fence. The end
// of a lease only allows another claim; a late write is refused by the fence and not by the time.

import { ErrandError } from '../core/errors.ts'
import { isSettled, type TaskRecord } from '../entities/task.ts'

/** Identifies a writer: its name, and with a lease the number of its claim. */
export interface ClaimToken {
  owner: string
  fence?: number | undefined
}

/** @throws ErrandError INVALID_INPUT for a fence without an owner. */
export function claimTokenFrom(owner: string | undefined, fence: number | undefined): ClaimToken | undefined {
  if (owner !== undefined) return { owner, fence }
  if (fence === undefined) return undefined
  throw new ErrandError(
    'INVALID_INPUT',
    'A `fence` needs its `owner`: pass both, or the task as `claim` returned it.',
    { fence },
  )
}

type Claimed = Pick<TaskRecord, 'id' | 'status' | 'owner' | 'fence' | 'leaseMs'>

/**
 * Allows the owner of a task to write, and every writer when the task has no owner.
 * @throws ErrandError NOT_OWNER { owner } when another owner has claimed it; STALE_CLAIM { fence } for a claim that has ended, and
 *   for a write under a lease without a fence.
 */
export function requireOwner(task: Claimed, token: ClaimToken | undefined): void {
  if (token?.fence !== undefined && token.fence !== task.fence)
    throw staleClaim(task, token, token.fence < task.fence ? 'it has been claimed since' : 'no claim has this number')
  if (task.owner === null) {
    if (token !== undefined) {
      throw staleClaim(task, token, task.fence === 0 ? 'it was never claimed' : 'it was released or its lease is over')
    }
    return
  }
  if (token?.owner !== task.owner) {
    // The transition table refuses writes to a settled task with a better error.
    if (token === undefined && isSettled(task.status)) return
    throw notOwner(task, token)
  }
  if (task.leaseMs !== null && token.fence === undefined && !isSettled(task.status)) {
    throw staleClaim(task, token, 'a claim with a lease must be given with its fence')
  }
}

/** True when the owner writes under the present claim. Only such a write renews the lease. */
export function isOwner(task: Claimed, token: ClaimToken | undefined): boolean {
  if (token === undefined || token.owner !== task.owner) return false
  return token.fence === undefined ? task.leaseMs === null : token.fence === task.fence
}

function notOwner(task: Claimed, token: ClaimToken | undefined): ErrandError {
  const by = task.status === 'submitted' ? 'for' : 'by'
  return new ErrandError(
    'NOT_OWNER',
    `${task.id} is ${by === 'for' ? 'meant' : 'worked on'} ${by} ${task.owner}, ${token === undefined ? 'and this write has no owner' : `not ${by} ${token.owner}`}. Where the call takes an owner, pass { owner }, or the task as \`claim\` returned it; \`cancel\` and \`pause\` need no owner.`,
    { taskId: task.id, owner: task.owner, ...(token === undefined ? {} : { by: token.owner }) },
  )
}

function staleClaim(task: Claimed, token: ClaimToken, why: string): ErrandError {
  return new ErrandError(
    'STALE_CLAIM',
    `The claim of ${token.owner}${token.fence === undefined ? '' : ` (number ${token.fence})`} on ${task.id} is not valid: ${why}. ${task.owner === null ? 'It has no owner now' : `${task.owner} owns it now (number ${task.fence})`}; \`claim\` it again, or pass the task as \`claim\` returned it.`,
    { taskId: task.id, owner: task.owner, fence: task.fence, quoted: token.fence ?? null },
  )
}
