// agent:join: an agent begins to work on a task, beside others.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { mostObjectives } from '../../entities/team.ts'
import { joinTeam } from '../../team/join.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { shownContext, teamContextSchema } from '../views/team-view.ts'
import { agentIdSchema, objectiveIdSchema, roleSchema } from './agent-input.ts'

const inputSchema = z.strictObject({
  taskId: taskIdSchema,
  agentId: agentIdSchema,
  role: roleSchema.optional().describe('As what it works: implementer, reviewer, …'),
  objectives: z
    .array(objectiveIdSchema)
    .max(mostObjectives)
    .optional()
    .describe('Objectives that it takes: they are active.'),
})

/** A caller with a task lets agents join the tasks of its own subtree. */
export function agentJoin(host: AbilityHost) {
  return defineAbility({
    id: 'agent:join',
    access: 'create',
    description:
      'Lets an agent join a task that several work on: it gets a branch of memory of its own, and is told what is known so far.',
    input: eitherCase(inputSchema, { assignedObjectives: 'objectives' }),
    output: z.object({ branch: z.string(), context: teamContextSchema }),
    scope: ({ taskId }) => [taskId],
    async handle(input, { caller }) {
      const { branch, context } = await joinTeam(host, caller, input)
      return { branch, context: shownContext(context) }
    },
  })
}
