// Input fields that the abilities of teams share.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { maxAgentIdLength } from '../../entities/team.ts'

export const agentIdSchema = once(() =>
  z.string().trim().min(1).max(maxAgentIdLength).describe('The name under which the agent works in the team.'),
)
export const roleSchema = once(() => z.string().trim().min(1).max(100))
export const summarySchema = once(() => z.string().trim().min(1).max(100_000))
export const objectiveIdSchema = once(() => z.int().min(1).describe('Number of the objective; they count from 1.'))

/** Alternative names of `objectiveId`. */
export const objectiveAliases = { objId: 'objectiveId', objective: 'objectiveId' }
export const limitSchema = once(() => z.int().min(0).max(1_000))
export const offsetSchema = once(() => z.int().min(0))
