// mem:why: where a fact comes from and why it is as sure as it is.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { decisionKinds } from '../../entities/memory.ts'
import { whyFact } from '../../memory/why-fact.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { factIdSchema, factSchema, historyTypeSchema, observationSchema } from './mem-input.ts'

const inputSchema = z.strictObject({
  factId: factIdSchema.describe('Its id, or any beginning of it that no other fact has.'),
})

const decisionSchema = z.object({
  kind: z.enum(decisionKinds),
  otherId: z.string().optional(),
  observationId: z.string().optional(),
  similarity: z.number().optional(),
  before: z.number().optional(),
  after: z.number().optional(),
  note: z.string().optional(),
  historyId: z.string(),
  type: historyTypeSchema,
  trigger: z.string(),
  at: z.number(),
})

const storyShape = {
  fact: factSchema,
  observations: z.array(observationSchema),
  decisions: z.array(decisionSchema),
  moreDecisions: z.literal(true).optional(),
}

const mentionSchema = z.object({ factId: z.string(), ...decisionSchema.omit({ otherId: true }).shape })

/** `mentions` are decisions about other facts that name this one, `others` the facts that it has to do with by a decision; `sources` are the facts of branches below that it came from, each with what said it. */
export function memWhy(host: AbilityHost) {
  return defineAbility({
    id: 'mem:why',
    access: 'read',
    description:
      'Tells why a fact is as it is: what was observed, what each consolidation decided, where it was carried from, and which facts contradict it, gave way to it or say it now.',
    input: eitherCase(inputSchema, { id: 'factId' }),
    output: z.object({
      ...storyShape,
      mentions: z.array(mentionSchema),
      moreMentions: z.literal(true).optional(),
      sources: z.array(z.object(storyShape)),
      others: z.array(factSchema),
      successor: factSchema.optional(),
    }),
    handle: ({ factId }, { caller }) => whyFact(host, caller, factId),
  })
}
