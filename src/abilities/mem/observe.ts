// mem:observe: keeps what somebody has seen, until a consolidation makes facts of it.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { takeObservation } from '../../memory/take-observation.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { taskIdSchema } from '../task/task-input.ts'
import {
  agentIdSchema,
  branchSchema,
  observationTypeSchema,
  sessionIdSchema,
  textSchema,
  usualBranch,
} from './mem-input.ts'
import { requireSession } from './session-named.ts'

const inputSchema = z.strictObject({
  sessionId: sessionIdSchema.optional().describe('Which session saw it. Default, for a task that calls: its own.'),
  type: observationTypeSchema.describe(
    'insight, decision and discovery become facts; tool_use and error are kept to look at.',
  ),
  content: textSchema.describe('What was seen, in a sentence that is true by itself.'),
  outcome: textSchema.optional().describe('What came of it.'),
  branch: branchSchema.optional().describe(`Branch of memory. ${usualBranch}`),
  taskId: taskIdSchema.optional(),
  agentId: agentIdSchema.optional(),
})

/** An archived branch is BRANCH_CLOSED, an unknown one NOT_FOUND. With `memory.consolidateEvery` the session may be consolidated by it. */
export function memObserve(host: AbilityHost) {
  return defineAbility({
    id: 'mem:observe',
    access: 'create',
    description: 'Keeps an observation in memory: an insight, a decision, a discovery, the use of a tool, an error.',
    input: eitherCase(inputSchema),
    output: z.object({ observationId: z.string() }),
    // Kept once under the identity of its call, so to say it again does no harm.
    onInterrupt: 'rerun',
    handle: ({ sessionId, ...given }, { caller, identity }) =>
      takeObservation(host, caller, { ...given, identity, sessionId: requireSession(sessionId, caller) }),
  })
}
