// mem:observations: what was observed, the latest first.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { listObservations } from '../../memory/read-memory.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { taskIdSchema } from '../task/task-input.ts'
import {
  agentIdSchema,
  beforeSchema,
  branchSchema,
  nextSchema,
  observationSchema,
  observationTypeSchema,
  pageLimitSchema,
  sessionIdSchema,
} from './mem-input.ts'

const inputSchema = z.strictObject({
  branch: branchSchema.optional().describe('Default: all; for a task that calls its own.'),
  sessionId: sessionIdSchema.optional(),
  taskId: taskIdSchema.optional(),
  agentId: agentIdSchema.optional(),
  types: z.array(observationTypeSchema).min(1).optional().describe('Default: all.'),
  limit: pageLimitSchema,
  before: beforeSchema,
})

export function memObservations(host: AbilityHost) {
  return defineAbility({
    id: 'mem:observations',
    access: 'read',
    description: 'Lists what was observed, the latest first, with the run of consolidation that took it up.',
    input: eitherCase(inputSchema),
    output: z.object({ observations: z.array(observationSchema), next: nextSchema }),
    handle: (query, { caller }) => listObservations(host, caller, query),
  })
}
