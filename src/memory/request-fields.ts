// The fields of memory requests, each with its bounds.
import { z } from 'zod'
import { once } from '../core/once.ts'
import { taskIdSchema } from '../entities/task-fields.ts'
import { maxAgentIdLength } from '../entities/team.ts'

/** Maximum length of an observation or a fact, in characters. */
const maxTextLength = 100_000

export const branchSchema = once(() => z.string().trim().min(1).max(1_000))
export const sessionIdSchema = once(() => z.string().trim().min(1).max(500))
export const agentIdSchema = once(() => z.string().trim().min(1).max(maxAgentIdLength))
export const categorySchema = once(() => z.string().trim().min(1).max(100))
export const factIdSchema = once(() => z.string().trim().min(1).max(200))
export const textSchema = once(() =>
  z
    .string()
    .max(maxTextLength)
    .refine((text) => text.trim() !== '', { message: 'it is empty' }),
)
export const fractionSchema = once(() => z.number().min(0).max(1))

const defaultBranch = "Default: the agent's on the task, else the task's, else that of the calling task, else main."

/** The fields that select a branch; `what` is the purpose of the branch. */
export const branchTargetShape = (what: string) => ({
  branch: branchSchema().optional().describe(`${what} ${defaultBranch}`),
  taskId: taskIdSchema.optional(),
  agentId: agentIdSchema().optional(),
})

/** Pagination: `before` (or `after`) takes the `next` of the previous page. */
export const pageLimitSchema = once(() => z.int().min(1).max(1_000).default(50))
export const positionSchema = once(() => z.int().min(0).optional().describe('The `next` of the previous page.'))
export const pageShape = once(() => ({ limit: pageLimitSchema(), before: positionSchema() }))
