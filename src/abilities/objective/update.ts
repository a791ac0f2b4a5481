// objective:update: how an objective of a task stands now.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { objectiveStatuses } from '../../entities/team.ts'
import { updateObjective } from '../../team/objectives.ts'
import type { AbilityHost } from '../ability-host.ts'
import { agentIdSchema, objectiveAliases, objectiveIdSchema } from '../agent/agent-input.ts'
import { eitherCase } from '../either-case.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { objectivesSchema, shownObjectives } from '../views/team-view.ts'

const inputSchema = z.strictObject({
  taskId: taskIdSchema,
  objectiveId: objectiveIdSchema,
  status: z.enum(objectiveStatuses).describe('Any may follow any other.'),
  agentId: agentIdSchema.nullable().optional().describe('Who works on it; null: nobody. Default: as it was.'),
  notes: z.string().trim().max(10_000).nullable().optional().describe('Default: as they were.'),
})

/** A caller with a task may name the task of its own subtree, or the one that its team works on: judged in the step itself. */
export function objectiveUpdate(host: AbilityHost) {
  return defineAbility({
    id: 'objective:update',
    access: 'control',
    description: 'Says how an objective of a task stands: todo, active, done or blocked, and who works on it.',
    input: eitherCase(inputSchema, objectiveAliases),
    output: objectivesSchema,
    // Said again, it is no news.
    onInterrupt: 'rerun',
    handle: async (input, { caller }) => shownObjectives(await updateObjective(host, caller, input)),
  })
}
