// mem:consolidate: makes facts of observations, one of many, and what lasts of what does not; level by level.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { consolidationLevels } from '../../entities/memory.ts'
import { consolidate } from '../../memory/consolidate.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { agentIdSchema, branchSchema, countsShape, sessionIdSchema } from './mem-input.ts'

const inputSchema = z.strictObject({
  level: z
    .enum(consolidationLevels)
    .describe(
      'session: observations become facts. agent: facts that say the same become one, and are summed up. task: which facts last. project: what several tasks found.',
    ),
  sessionId: sessionIdSchema.optional().describe('For the level session. Default, for a task that calls: its own.'),
  agentId: agentIdSchema.optional().describe('For the level agent.'),
  taskId: taskIdSchema.optional().describe('For the level task; at session and agent it says whose branch is meant.'),
  taskIds: z.array(taskIdSchema).min(1).max(10_000).optional().describe('For the level project. Default: all.'),
  branch: branchSchema
    .optional()
    .describe(
      'session: default each on which the session has something left. agent: default where it worked last. project: default main.',
    ),
})

/** Run twice it changes nothing the second time. What a level needs and was not given is INVALID_INPUT; unknown ids are NOT_FOUND. */
export function memConsolidate(host: AbilityHost) {
  return defineAbility({
    id: 'mem:consolidate',
    access: 'control',
    description: 'Consolidates memory: of a session, of an agent, of a task, or across the tasks of a project.',
    input: eitherCase(inputSchema),
    output: z.object({
      ...countsShape,
      durable: z.array(z.string()).optional().describe('Ids of facts that last.'),
      ephemeral: z.int().optional().describe('How many facts do not.'),
      summary: z.string().optional(),
      historyId: z.string().optional().describe('The run in the history, where it came to one.'),
    }),
    handle({ sessionId, ...request }, { caller }) {
      const session = sessionId ?? (request.level === 'session' ? caller.taskId : undefined)
      return consolidate(host, caller, { ...request, sessionId: session })
    },
  })
}
