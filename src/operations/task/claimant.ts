// The claimant in the input of writes to a claimed task. A caller that the surface identifies replaces it.

import { claimTokenOptionsSchema } from '../../entities/options.ts'
import { type ClaimToken, claimTokenFrom } from '../../machines/ownership.ts'
import { nameOf } from '../acting-as.ts'
import type { ChangeContext } from './define-change.ts'

const { owner, fence } = claimTokenOptionsSchema().shape

export const claimantShape = {
  owner: owner.describe('Owner of the claim, if the task is claimed.'),
  fence: fence.describe('Number of the claim, as returned by `claim`; required with a lease.'),
}

/**
 * `context.claimant` is set where the engine's method was called on a claimed task.
 * @throws ErrandError INVALID_INPUT for a fence without an owner.
 */
export function claimantOf(
  { caller, claimant }: ChangeContext,
  claim: Partial<ClaimToken> = {},
): ClaimToken | undefined {
  return claimant ?? claimTokenFrom(nameOf(caller, claim.owner), claim.fence)
}
