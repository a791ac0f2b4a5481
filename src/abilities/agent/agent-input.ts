// Pieces of input that the abilities of teams have in common.
import { z } from 'zod'

const name = z.string().trim().min(1).max(100)

export const agentIdSchema = name.describe('The name under which the agent works in the team.')
export const roleSchema = name
export const summarySchema = z.string().trim().min(1).max(100_000)
export const objectiveIdSchema = z.int().min(1).describe('Number of the objective; they count from 1.')

/** `assigned_objectives` of the document, and its names for other keys. */
export const objectiveAliases = { objId: 'objectiveId', objective: 'objectiveId' }
export const limitSchema = z.int().min(0).max(1_000)
export const offsetSchema = z.int().min(0)
