// The abilities that ask memory: facts, branches, observations and the history in pages, what bears on a query, and why a fact is so.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import {
  branchQuerySchema,
  factQuerySchema,
  historyQuerySchema,
  listBranches,
  listFacts,
  listHistory,
  listObservations,
  observationQuerySchema,
} from '../../memory/read-memory.ts'
import { factIdSchema } from '../../memory/request-fields.ts'
import { chunkSchema, retrieve, retrieveSchema } from '../../memory/retrieve.ts'
import { whyFact } from '../../memory/why-fact.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../key-case.ts'
import { refuseTasks } from '../own-tasks.ts'
import {
  branchPageSchema,
  factPageSchema,
  historyPageSchema,
  observationPageSchema,
  whySchema,
} from '../views/memory-view.ts'

/** With `inherited` a fact and its copy above are listed once: as the branch's own. */
export function memFacts(host: AbilityHost) {
  return defineAbility({
    id: 'mem:facts',
    access: 'read',
    description: 'Lists the facts of a branch of memory, the newest first.',
    input: eitherCase(factQuerySchema),
    output: factPageSchema,
    handle: (query, { caller }) => listFacts(host, caller, query),
  })
}

/** The oldest first. */
export function memBranches(host: AbilityHost) {
  return defineAbility({
    id: 'mem:branches',
    access: 'read',
    description: 'Lists the branches of memory: what they lie below, whose they are, and whether they are open.',
    input: eitherCase(branchQuerySchema),
    output: branchPageSchema,
    models: false,
    handle(query, { caller }) {
      refuseTasks(caller, 'mem:branches')
      return listBranches(host, query)
    },
  })
}

export function memObservations(host: AbilityHost) {
  return defineAbility({
    id: 'mem:observations',
    access: 'read',
    description: 'Lists what was observed, the latest first, with the run of consolidation that took it up.',
    input: eitherCase(observationQuerySchema),
    output: observationPageSchema,
    handle: (query, { caller }) => listObservations(host, caller, query),
  })
}

export function memHistory(host: AbilityHost) {
  return defineAbility({
    id: 'mem:history',
    access: 'read',
    description:
      'Lists the runs of consolidation and the merges, the latest first: what set them off and what they came to.',
    input: eitherCase(historyQuerySchema),
    output: historyPageSchema,
    models: false,
    handle: (query, { caller }) => listHistory(host, caller, query),
  })
}

/** By text, weighed with confidence and age; a fact and its copy above appear once. An ability of yours under this id takes its place. */
export function memRetrieve(host: AbilityHost) {
  return defineAbility({
    id: 'mem:retrieve',
    access: 'read',
    description: 'Recalls facts that bear on a query, best first.',
    input: eitherCase(retrieveSchema),
    output: z.object({ chunks: z.array(chunkSchema) }),
    handle: async (request, { caller }) => ({ chunks: await retrieve(host, caller, request) }),
  })
}

/** `mentions` are decisions about other facts that name this one, `others` the facts that it has to do with by a decision; `sources` are the facts of branches below that it came from, each with what said it. */
export function memWhy(host: AbilityHost) {
  return defineAbility({
    id: 'mem:why',
    access: 'read',
    description:
      'Tells why a fact is as it is: what was observed, what each consolidation decided, where it was carried from, and which facts contradict it, gave way to it or say it now.',
    input: eitherCase(
      z.strictObject({ factId: factIdSchema.describe('Its id, or any beginning of it that no other fact has.') }),
      { id: 'factId' },
    ),
    output: whySchema,
    handle: ({ factId }, { caller }) => whyFact(host, caller, factId),
  })
}
