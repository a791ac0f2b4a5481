// Who writes to a claimed task: said in the input, unless the caller is known by a name of its own.

import { claimTokenOptionsSchema } from '../../api/options.ts'
import { type ClaimToken, claimTokenFrom } from '../../machines/ownership.ts'
import { nameOf } from '../board/board-input.ts'
import type { ChangeContext } from './task-change.ts'

const { owner, fence } = claimTokenOptionsSchema.shape

export const claimantShape = {
  owner: owner.describe('Who has claimed it, if somebody has.'),
  fence: fence.describe('Number of the claim, as `claim` returned it; required with a lease.'),
}

/**
 * `context.claimant`: the engine's method was given the task as its owner has it.
 * @throws ErrandError INVALID_INPUT for a fence without an owner.
 */
export function claimantOf(
  { caller, claimant }: ChangeContext,
  said: Partial<ClaimToken> = {},
): ClaimToken | undefined {
  return claimant ?? claimTokenFrom(nameOf(caller, said.owner), said.fence)
}
