// Whose task is it? Pure verdicts over a claim: who may write, and who has been left behind. The number of the claim is the
// fence: time only says when somebody else may take over, never that a late write is refused.

import { ErrandError } from '../core/errors.ts'
import { isSettled, type TaskRecord } from '../entities/task.ts'

/** What a writer says of itself: who it is, and with a lease the number of its claim. */
export interface ClaimToken {
  owner: string
  fence?: number | undefined
}

/** @throws ErrandError INVALID_INPUT for a fence without an owner. */
export function claimTokenFrom(owner: string | undefined, fence: number | undefined): ClaimToken | undefined {
  if (owner !== undefined) return { owner, fence }
  if (fence === undefined) return undefined
  throw new ErrandError('INVALID_INPUT', 'A `fence` is quoted together with its `owner`.', { fence })
}

type Claimed = Pick<TaskRecord, 'id' | 'status' | 'owner' | 'fence' | 'leaseMs'>

/**
 * Lets the owner of a task write, and anybody where nobody owns it.
 * @throws ErrandError NOT_OWNER { owner } for somebody else's task; STALE_CLAIM { fence } for a claim that has ended, and for a
 *   write under a lease that does not quote its fence.
 */
export function requireOwner(task: Claimed, quote: ClaimToken | undefined): void {
  if (quote?.fence !== undefined && quote.fence !== task.fence)
    throw staleClaim(task, quote, quote.fence < task.fence ? 'it has been claimed since' : 'no claim has this number')
  if (task.owner === null) {
    if (quote !== undefined) {
      throw staleClaim(task, quote, task.fence === 0 ? 'it was never claimed' : 'it was released or its lease is over')
    }
    return
  }
  if (quote?.owner !== task.owner) {
    // Over is over for everybody: the table says so better.
    if (quote === undefined && isSettled(task.status)) return
    throw notOwner(task, quote)
  }
  if (task.leaseMs !== null && quote.fence === undefined && !isSettled(task.status)) {
    throw staleClaim(task, quote, 'a claim with a lease is quoted with its fence')
  }
}

/** It is the owner that writes, under the claim that holds: where anybody may write, only this is a sign of life. */
export function isOwner(task: Claimed, quote: ClaimToken | undefined): boolean {
  if (quote === undefined || quote.owner !== task.owner) return false
  return quote.fence === undefined ? task.leaseMs === null : quote.fence === task.fence
}

function notOwner(task: Claimed, quote: ClaimToken | undefined): ErrandError {
  return new ErrandError(
    'NOT_OWNER',
    `${task.id} is ${task.status === 'submitted' ? 'meant for' : 'worked on by'} ${task.owner}, ${quote === undefined ? 'and this write does not say who it is from' : `not by ${quote.owner}`}. Pass { owner }, or the task as \`claim\` returned it; \`cancel\` and \`pause\` are anybody's.`,
    { taskId: task.id, owner: task.owner, ...(quote === undefined ? {} : { by: quote.owner }) },
  )
}

function staleClaim(task: Claimed, quote: ClaimToken, why: string): ErrandError {
  return new ErrandError(
    'STALE_CLAIM',
    `The claim of ${quote.owner}${quote.fence === undefined ? '' : ` (number ${quote.fence})`} on ${task.id} does not hold: ${why}. ${task.owner === null ? 'Nobody owns it now' : `${task.owner} owns it now (number ${task.fence})`}; \`claim\` it anew, or pass the task as \`claim\` returned it.`,
    { taskId: task.id, owner: task.owner, fence: task.fence, quoted: quote.fence ?? null },
  )
}
