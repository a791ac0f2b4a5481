// The abilities that read memory: pages of facts, branches, observations and history, recall by query, and the origin of a fact.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { once } from '../../core/once.ts'
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
import type { MemoryAbilityHost } from './memory-ability-host.ts'
import { branchPageSchema, factPageSchema, historyPageSchema, observationPageSchema, whySchema } from './memory-view.ts'

const memFactsInput = once(() => eitherCase(factQuerySchema()))

/** With `inherited`, a fact and its copy on a parent branch are listed once, as the branch's own. */
export function memFacts(host: MemoryAbilityHost) {
  return defineAbility({
    id: 'mem:facts',
    access: 'read',
    description: 'Lists the facts of a branch of memory, newest first.',
    input: memFactsInput(),
    output: factPageSchema(),
    handle: (query, { caller }) => listFacts(host, caller, query),
  })
}

const memBranchesInput = once(() => eitherCase(branchQuerySchema()))

/** Oldest first. */
export function memBranches(host: MemoryAbilityHost) {
  return defineAbility({
    id: 'mem:branches',
    access: 'read',
    description: 'Lists the memory branches with their parent, owner and status.',
    input: memBranchesInput(),
    output: branchPageSchema(),
    models: false,
    handle(query, { caller }) {
      refuseTasks(caller, 'mem:branches')
      return listBranches(host, query)
    },
  })
}

const memObservationsInput = once(() => eitherCase(observationQuerySchema()))

export function memObservations(host: MemoryAbilityHost) {
  return defineAbility({
    id: 'mem:observations',
    access: 'read',
    description: 'Lists observations, latest first, with the consolidation run that processed each.',
    input: memObservationsInput(),
    output: observationPageSchema(),
    handle: (query, { caller }) => listObservations(host, caller, query),
  })
}

const memHistoryInput = once(() => eitherCase(historyQuerySchema()))

export function memHistory(host: MemoryAbilityHost) {
  return defineAbility({
    id: 'mem:history',
    access: 'read',
    description: 'Lists the consolidation runs and merges, latest first, with their triggers and outcomes.',
    input: memHistoryInput(),
    output: historyPageSchema(),
    models: false,
    handle: (query, { caller }) => listHistory(host, caller, query),
  })
}

const memRetrieveInput = once(() => eitherCase(retrieveSchema()))

const memRetrieveOutput = once(() => z.object({ chunks: z.array(chunkSchema()) }))

/**
 * By text relevance, weighted with confidence and age. A fact and its copy on a parent branch appear once. Your own ability under this id
 * replaces it.
 */
export function memRetrieve(host: MemoryAbilityHost) {
  return defineAbility({
    id: 'mem:retrieve',
    access: 'read',
    description: 'Returns the facts that are relevant to a query, best first.',
    input: memRetrieveInput(),
    output: memRetrieveOutput(),
    handle: async (request, { caller }) => ({ chunks: await retrieve(host, caller, request) }),
  })
}

const memWhyInput = once(() =>
  eitherCase(z.strictObject({ factId: factIdSchema().describe('Id of the fact, or a unique prefix of it.') }), {
    id: 'factId',
  }),
)

/**
 * `mentions` are decisions about other facts that name this one; `others` are the facts related to it by a decision; `sources` are the
 * facts of lower branches that it was merged from, each with its own source.
 */
export function memWhy(host: MemoryAbilityHost) {
  return defineAbility({
    id: 'mem:why',
    access: 'read',
    description:
      'Explains a fact: the observations behind it, the decision of each consolidation, the branches it was merged from, and the facts that contradict it, were superseded by it or replace it.',
    input: memWhyInput(),
    output: whySchema(),
    handle: ({ factId }, { caller }) => whyFact(host, caller, factId),
  })
}
