// agent:timeline: what an agent has worked on, the latest first.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { taskStatuses } from '../../entities/task.ts'
import { stintStatuses } from '../../entities/team.ts'
import { agentTimeline as timelineOf } from '../../team/timeline.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { refuseTasks } from '../own-tasks.ts'
import { agentIdSchema, limitSchema, offsetSchema } from './agent-input.ts'

const inputSchema = z.strictObject({
  agentId: agentIdSchema,
  limit: limitSchema.default(20),
  offset: offsetSchema.default(0),
})

/** It crosses all tasks, so it is for people and programs. */
export function agentTimeline(host: AbilityHost) {
  return defineAbility({
    id: 'agent:timeline',
    access: 'read',
    description: 'Lists what an agent has worked on, on all tasks: as what, from when to when, and what it did there.',
    input: eitherCase(inputSchema),
    output: z.object({
      stints: z.array(
        z.object({
          taskId: z.string(),
          taskName: z.string(),
          type: z.string().nullable(),
          taskStatus: z.enum(taskStatuses),
          /** Counts the stints of the agent on that task. */
          stint: z.int(),
          role: z.string().nullable(),
          branch: z.string(),
          status: z.enum(stintStatuses),
          objectives: z.array(z.int()),
          summary: z.string().nullable(),
          joinedAt: z.number(),
          leftAt: z.number().nullable(),
          durationMs: z.number().nullable(),
        }),
      ),
    }),
    models: false,
    async handle(input, { caller }) {
      refuseTasks(caller, 'agent:timeline')
      return { stints: await timelineOf(host, input) }
    },
  })
}
