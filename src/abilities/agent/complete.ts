// agent:complete: an agent has done its part of a task.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { countsShape } from '../../memory/consolidation-run.ts'
import { mergeOutcomeSchema } from '../../memory/merge.ts'
import { completeAgent } from '../../team/complete-agent.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { agentIdSchema, summarySchema } from './agent-input.ts'

const inputSchema = z.strictObject({
  taskId: taskIdSchema,
  agentId: agentIdSchema,
  summary: summarySchema.optional().describe('What it did, in a few sentences. Default: made of the facts it found.'),
})

/** A caller with a task completes agents on the tasks of its own subtree. */
export function agentComplete(host: AbilityHost) {
  return defineAbility({
    id: 'agent:complete',
    access: 'control',
    description:
      'Ends the work of an agent on a task: what it observed becomes facts, and its branch of memory is given to the team.',
    input: eitherCase(inputSchema, { resultSummary: 'summary' }),
    output: z.object({
      ...mergeOutcomeSchema.shape,
      consolidation: z.object({ ...countsShape, summary: z.string().nullable() }),
    }),
    scope: ({ taskId }) => [taskId],
    handle: (input, { caller }) => completeAgent(host, caller, input),
  })
}
