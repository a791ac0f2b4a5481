// mem:remember: states a fact, without an observation that it was made of.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { remember } from '../../memory/take-observation.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { taskIdSchema } from '../task/task-input.ts'
import {
  agentIdSchema,
  branchSchema,
  categorySchema,
  fractionSchema,
  sessionIdSchema,
  textSchema,
  usualBranch,
} from './mem-input.ts'

const inputSchema = z.strictObject({
  text: textSchema.describe('What is so, in a sentence that is true by itself.'),
  category: categorySchema
    .optional()
    .describe('Default: told by its words, as bug_fix, architecture, security, …, insight.'),
  confidence: fractionSchema.optional().describe('How sure it is, 0 to 1. Default 0.7.'),
  branch: branchSchema.optional().describe(`Branch of memory. ${usualBranch}`),
  taskId: taskIdSchema.optional(),
  agentId: agentIdSchema.optional(),
  sessionId: sessionIdSchema.optional(),
})

/** Stated, not compared: the next consolidation at the agent's level finds what is said twice. */
export function memRemember(host: AbilityHost) {
  return defineAbility({
    id: 'mem:remember',
    access: 'create',
    description: 'Keeps a fact in memory that is known to be so.',
    input: eitherCase(inputSchema),
    output: z.object({ factId: z.string() }),
    // Kept once under the identity of its call, so to say it again does no harm.
    onInterrupt: 'rerun',
    handle: (given, { caller, identity }) => remember(host, caller, { ...given, identity }),
  })
}
