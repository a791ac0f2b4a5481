// Memory as abilities return it: facts, observations, branches, history, and the origin of a fact.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import {
  branchStatuses,
  consolidationTypes,
  decisionKinds,
  factStatuses,
  factVerdicts,
  observationTypes,
} from '../../entities/memory.ts'
import { sourceSchema } from '../../entities/source.ts'
import { countsShape } from '../consolidation-run.ts'

const count = once(() => z.int().min(0))

const nextSchema = once(() => z.number().nullable().describe('Position for the next page; null on the last.'))

const factSchema = once(() =>
  z.object({
    id: z.string(),
    text: z.string(),
    category: z.string(),
    confidence: z.number(),
    statedBy: z.array(sourceSchema()),
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
  }),
)
export const factPageSchema = once(() => z.object({ facts: z.array(factSchema()), next: nextSchema() }))

const observationSchema = once(() =>
  z.object({
    id: z.string(),
    sessionId: z.string(),
    branch: z.string(),
    type: z.enum(observationTypes),
    content: z.string(),
    outcome: z.string().optional(),
    taskId: z.string().optional(),
    agentId: z.string().optional(),
    statedBy: sourceSchema(),
    createdAt: z.number(),
    consolidatedBy: z.string().optional(),
  }),
)
export const observationPageSchema = once(() =>
  z.object({ observations: z.array(observationSchema()), next: nextSchema() }),
)

const branchSchema = once(() =>
  z.object({
    name: z.string(),
    parent: z.string().optional(),
    description: z.string(),
    status: z.enum(branchStatuses),
    taskId: z.string().optional(),
    agentId: z.string().optional(),
    facts: count().optional(),
    createdAt: z.number(),
    updatedAt: z.number(),
  }),
)
export const branchPageSchema = once(() => z.object({ branches: z.array(branchSchema()), next: nextSchema() }))

const historySchema = once(() =>
  z.object({
    id: z.string(),
    type: z.enum(consolidationTypes),
    sourceBranch: z.string(),
    targetBranch: z.string(),
    sessionId: z.string().optional(),
    agentId: z.string().optional(),
    taskId: z.string().optional(),
    trigger: z.string(),
    ...countsShape,
    durable: count().optional(),
    ephemeral: count().optional(),
    merged: count().optional(),
    rejected: count().optional(),
    summary: z.string().optional(),
    at: z.number(),
  }),
)
export const historyPageSchema = once(() => z.object({ history: z.array(historySchema()), next: nextSchema() }))

const decisionSchema = once(() =>
  z.object({
    kind: z.enum(decisionKinds),
    otherId: z.string().optional(),
    observationId: z.string().optional(),
    similarity: z.number().optional(),
    before: z.number().optional(),
    after: z.number().optional(),
    note: z.string().optional(),
    historyId: z.string(),
    type: z.enum(consolidationTypes),
    trigger: z.string(),
    at: z.number(),
  }),
)

const factHistoryShape = once(() => ({
  fact: factSchema(),
  observations: z.array(observationSchema()),
  decisions: z.array(decisionSchema()),
  moreDecisions: z.literal(true).optional(),
}))

export const whySchema = once(() =>
  z.object({
    ...factHistoryShape(),
    mentions: z.array(z.object({ factId: z.string(), ...decisionSchema().omit({ otherId: true }).shape })),
    moreMentions: z.literal(true).optional(),
    sources: z.array(z.object(factHistoryShape())),
    others: z.array(factSchema()),
    successor: factSchema().optional(),
  }),
)
