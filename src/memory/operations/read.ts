// The abilities that read memory: pages of facts, branches, observations and history, recall by query, and the origin of a fact.
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
import { eitherCase } from '../../operations/key-case.ts'
import { refuseTasks } from '../../operations/own-tasks.ts'
import { countsShape } from '../consolidation-run.ts'
import {
  branchQuerySchema,
  factQuerySchema,
  historyQuerySchema,
  listBranches,
  listFacts,
  listHistory,
  listObservations,
  observationQuerySchema,
} from '../read-memory.ts'
import { factIdSchema } from '../request-fields.ts'
import { chunkSchema, retrieve, retrieveSchema } from '../retrieve.ts'
import { whyFact } from '../why-fact.ts'
import { defineMemoryOperation } from './memory-ability-host.ts'

// Memory as abilities return it: facts, observations, branches, history, and the origin of a fact.

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
const factPageSchema = once(() => z.object({ facts: z.array(factSchema()), next: nextSchema() }))

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
const observationPageSchema = once(() => z.object({ observations: z.array(observationSchema()), next: nextSchema() }))

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
const branchPageSchema = once(() => z.object({ branches: z.array(branchSchema()), next: nextSchema() }))

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
const historyPageSchema = once(() => z.object({ history: z.array(historySchema()), next: nextSchema() }))

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

const whySchema = once(() =>
  z.object({
    ...factHistoryShape(),
    mentions: z.array(z.object({ factId: z.string(), ...decisionSchema().omit({ otherId: true }).shape })),
    moreMentions: z.literal(true).optional(),
    sources: z.array(z.object(factHistoryShape())),
    others: z.array(factSchema()),
    successor: factSchema().optional(),
  }),
)

/** With `inherited`, a fact and its copy on a parent branch are listed once, as the branch's own. */
export const memFacts = defineMemoryOperation({
  id: 'mem:facts',
  access: 'read',
  description: 'Lists the facts of a branch of memory, newest first.',
  input: () => eitherCase(factQuerySchema()),
  output: factPageSchema,
  handle: (query, { caller }, host) => listFacts(host, caller, query),
})

/** Oldest first. */
export const memBranches = defineMemoryOperation({
  id: 'mem:branches',
  access: 'read',
  description: 'Lists the memory branches with their parent, owner and status.',
  input: () => eitherCase(branchQuerySchema()),
  output: branchPageSchema,
  models: false,
  handle(query, { caller }, host) {
    refuseTasks(caller, 'mem:branches')
    return listBranches(host, query)
  },
})

export const memObservations = defineMemoryOperation({
  id: 'mem:observations',
  access: 'read',
  description: 'Lists observations, latest first, with the consolidation run that processed each.',
  input: () => eitherCase(observationQuerySchema()),
  output: observationPageSchema,
  handle: (query, { caller }, host) => listObservations(host, caller, query),
})

export const memHistory = defineMemoryOperation({
  id: 'mem:history',
  access: 'read',
  description: 'Lists the consolidation runs and merges, latest first, with their triggers and outcomes.',
  input: () => eitherCase(historyQuerySchema()),
  output: historyPageSchema,
  models: false,
  handle: (query, { caller }, host) => listHistory(host, caller, query),
})

/**
 * By text relevance, weighted with confidence and age. A fact and its copy on a parent branch appear once. Your own ability under this id
 * replaces it.
 */
export const memRetrieve = defineMemoryOperation({
  id: 'mem:retrieve',
  access: 'read',
  description: 'Returns the facts that are relevant to a query, best first.',
  input: () => eitherCase(retrieveSchema()),
  output: () => z.object({ chunks: z.array(chunkSchema()) }),
  handle: async (request, { caller }, host) => ({ chunks: await retrieve(host, caller, request) }),
})

/**
 * `mentions` are decisions about other facts that name this one; `others` are the facts related to it by a decision; `sources` are the
 * facts of lower branches that it was merged from, each with its own source.
 */
export const memWhy = defineMemoryOperation({
  id: 'mem:why',
  access: 'read',
  description:
    'Explains a fact: the observations behind it, the decision of each consolidation, the branches it was merged from, and the facts that contradict it, were superseded by it or replace it.',
  input: () =>
    eitherCase(z.strictObject({ factId: factIdSchema().describe('Id of the fact, or a unique prefix of it.') }), {
      id: 'factId',
    }),
  output: whySchema,
  handle: ({ factId }, { caller }, host) => whyFact(host, caller, factId),
})
