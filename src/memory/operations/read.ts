// The abilities that read memory: pages of facts, branches, observations and history, recall by query, and the origin of a fact.
import { z } from 'zod'
import { eitherCase } from '../../operations/key-case.ts'
import { refuseTasks } from '../../operations/own-tasks.ts'
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
import { branchPageSchema, factPageSchema, historyPageSchema, observationPageSchema, whySchema } from './memory-view.ts'

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
