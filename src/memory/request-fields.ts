// What requests to memory are made of: each field once, with its bounds.
import { z } from 'zod'
import { taskIdSchema } from '../entities/task-fields.ts'
import { maxAgentIdLength } from '../entities/team.ts'

/** Characters of one observation, and of one fact. */
const maxTextLength = 100_000

export const branchSchema = z.string().trim().min(1).max(1_000)
export const sessionIdSchema = z.string().trim().min(1).max(500)
export const agentIdSchema = z.string().trim().min(1).max(maxAgentIdLength)
export const categorySchema = z.string().trim().min(1).max(100)
export const factIdSchema = z.string().trim().min(1).max(200)
export const textSchema = z
  .string()
  .max(maxTextLength)
  .refine((text) => text.trim() !== '', { message: 'it is empty' })
export const fractionSchema = z.number().min(0).max(1)

const defaultBranch = "Default: the agent's on the task, else the task's, else that of the task that calls, else main."

/** By what a branch is meant; `what` says what it is wanted for. */
export const listenAddressShape = (what: string) => ({
  branch: branchSchema.optional().describe(`${what} ${defaultBranch}`),
  taskId: taskIdSchema.optional(),
  agentId: agentIdSchema.optional(),
})

/** Some of many, a page at a time: where one ends is its `next`. */
export const pageLimitSchema = z.int().min(1).max(1_000).default(50)
export const positionSchema = z.int().min(0).optional().describe('The `next` of the page before.')
export const pageShape = { limit: pageLimitSchema, before: positionSchema }
