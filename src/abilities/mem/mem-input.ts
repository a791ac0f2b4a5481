// Pieces of input and output that the abilities of memory have in common.
import { z } from 'zod'
import { consolidationTypes, factStatuses, factVerdicts, observationTypes } from '../../entities/memory.ts'
import { longestAgentId } from '../../entities/team.ts'
import { longestText } from '../../memory/observe.ts'

export const branchSchema = z.string().trim().min(1).max(1_000)
export const sessionIdSchema = z.string().trim().min(1).max(500)
export const agentIdSchema = z.string().trim().min(1).max(longestAgentId)
export const categorySchema = z.string().trim().min(1).max(100)
export const factIdSchema = z.string().trim().min(1).max(200)
export const textSchema = z
  .string()
  .max(longestText)
  .refine((text) => text.trim() !== '', { message: 'it is empty' })
export const fractionSchema = z.number().min(0).max(1)

export const usualBranch =
  "Default: the agent's on the task, else the task's, else that of the task that calls, else main."

/** Some of many, a page at a time. */
export const pageLimitSchema = z.int().min(1).max(1_000).default(50)
export const positionSchema = z.int().min(0)
export const beforeSchema = positionSchema.optional().describe('The `next` of the page before.')
export const nextSchema = z.number().nullable().describe('Position of the next page; null at the end.')

export const factSchema = z.object({
  id: z.string(),
  text: z.string(),
  category: z.string(),
  confidence: z.number(),
  branch: z.string(),
  taskId: z.string().optional(),
  agentId: z.string().optional(),
  sessionId: z.string().optional(),
  status: z.enum(factStatuses),
  successorId: z.string().optional(),
  disputed: z.literal(true).optional(),
  verdict: z.enum(factVerdicts).optional(),
  observationId: z.string().optional(),
  originId: z.string().optional(),
  mergedTo: z.string().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
})

export const observationTypeSchema = z.enum(observationTypes)
export const observationSchema = z.object({
  id: z.string(),
  sessionId: z.string(),
  branch: z.string(),
  type: observationTypeSchema,
  content: z.string(),
  outcome: z.string().optional(),
  taskId: z.string().optional(),
  agentId: z.string().optional(),
  createdAt: z.number(),
  consolidatedBy: z.string().optional(),
})

const count = z.int().min(0)

/** What every run of consolidation counts. */
export const countsShape = {
  observationsProcessed: count,
  factsCreated: count,
  factsUpdated: count,
  factsDeduplicated: count,
}

export const historyTypeSchema = z.enum(consolidationTypes)
export const historySchema = z.object({
  id: z.string(),
  type: historyTypeSchema,
  sourceBranch: z.string(),
  targetBranch: z.string(),
  sessionId: z.string().optional(),
  agentId: z.string().optional(),
  taskId: z.string().optional(),
  trigger: z.string(),
  ...countsShape,
  durable: count.optional(),
  ephemeral: count.optional(),
  merged: count.optional(),
  rejected: count.optional(),
  summary: z.string().optional(),
  at: z.number(),
})
