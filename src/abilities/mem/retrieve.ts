// mem:retrieve: what memory knows that bears on a query. An ability of yours under this id takes its place.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { retrieve } from '../../memory/retrieve.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { agentIdSchema, branchSchema, fractionSchema, usualBranch } from './mem-input.ts'

const inputSchema = z.strictObject({
  query: z.string().max(100_000).describe('What it is about, in words.'),
  limit: z.int().min(0).max(100).default(5),
  branch: branchSchema.optional().describe(`Where to look: there and on the branches above. ${usualBranch}`),
  taskId: taskIdSchema.optional(),
  agentId: agentIdSchema.optional(),
  minConfidence: fractionSchema.optional().describe('Only facts at least so sure, 0 to 1.'),
})

/** By text, weighed with confidence and age; a fact and its copy on the branches above appear once. */
export function memRetrieve(host: AbilityHost) {
  return defineAbility({
    id: 'mem:retrieve',
    access: 'read',
    description: 'Recalls facts that bear on a query, best first.',
    input: eitherCase(inputSchema),
    output: z.object({
      chunks: z.array(
        z.object({
          id: z.string(),
          content: z.string(),
          text: z.string(),
          category: z.string(),
          confidence: z.number(),
          branch: z.string(),
          score: z.number(),
        }),
      ),
    }),
    handle: async (request, { caller }) => ({ chunks: await retrieve(host, caller, request) }),
  })
}
