// mem:facts: the facts of a branch, the newest first.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { factStatuses, factVerdicts } from '../../entities/memory.ts'
import { listFacts } from '../../memory/read-memory.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { taskIdSchema } from '../task/task-input.ts'
import {
  agentIdSchema,
  beforeSchema,
  branchSchema,
  categorySchema,
  factSchema,
  nextSchema,
  pageLimitSchema,
  sessionIdSchema,
} from './mem-input.ts'

const inputSchema = z.strictObject({
  branch: branchSchema.optional().describe('Default: that of the task that calls, else main.'),
  category: categorySchema.optional(),
  status: z.enum(factStatuses).optional().describe('Default: both.'),
  taskId: taskIdSchema.optional().describe('Only those found in work on this task.'),
  agentId: agentIdSchema.optional().describe('Only those that this agent found.'),
  sessionId: sessionIdSchema.optional(),
  verdict: z.enum(factVerdicts).optional().describe('Only what a checkpoint has found so.'),
  disputed: z.boolean().optional().describe('Only those that contradict another one, or only the others.'),
  inherited: z.boolean().default(false).describe('Those of the branches above it too. Default false.'),
  limit: pageLimitSchema,
  before: beforeSchema,
})

/** With `inherited` a fact and its copy above are listed once: as the branch's own. */
export function memFacts(host: AbilityHost) {
  return defineAbility({
    id: 'mem:facts',
    access: 'read',
    description: 'Lists the facts of a branch of memory, the newest first.',
    input: eitherCase(inputSchema),
    output: z.object({ facts: z.array(factSchema), next: nextSchema }),
    handle: (query, { caller }) => listFacts(host, caller, query),
  })
}
