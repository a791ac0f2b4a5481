// mem:history: the runs of consolidation and the merges, the latest first.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { listHistory } from '../../memory/read-memory.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { taskIdSchema } from '../task/task-input.ts'
import {
  agentIdSchema,
  beforeSchema,
  branchSchema,
  historySchema,
  historyTypeSchema,
  nextSchema,
  pageLimitSchema,
  sessionIdSchema,
} from './mem-input.ts'

const inputSchema = z.strictObject({
  type: historyTypeSchema.optional(),
  taskId: taskIdSchema.optional(),
  agentId: agentIdSchema.optional(),
  sessionId: sessionIdSchema.optional(),
  branch: branchSchema.optional().describe('As source or target. For a task that calls, default its own.'),
  limit: pageLimitSchema,
  before: beforeSchema,
})

export function memHistory(host: AbilityHost) {
  return defineAbility({
    id: 'mem:history',
    access: 'read',
    description:
      'Lists the runs of consolidation and the merges, the latest first: what set them off and what they came to.',
    input: eitherCase(inputSchema),
    output: z.object({ history: z.array(historySchema), next: nextSchema }),
    models: false,
    handle: (query, { caller }) => listHistory(host, caller, query),
  })
}
