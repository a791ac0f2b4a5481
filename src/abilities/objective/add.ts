// objective:add: gives a task more objectives.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { mostObjectives } from '../../entities/team.ts'
import { appendObjectives } from '../../team/objectives.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { objectivesSchema, shownObjectives } from '../views/team-view.ts'

const inputSchema = z.strictObject({
  taskId: taskIdSchema,
  descriptions: z
    .array(z.string().trim().min(1).max(10_000))
    .min(1)
    .max(mostObjectives)
    .describe('What is to be reached, one thing each.'),
})

/** They are numbered on, and begin as todo. */
export function objectiveAdd(host: AbilityHost) {
  return defineAbility({
    id: 'objective:add',
    access: 'control',
    description: 'Adds objectives to a task.',
    input: eitherCase(inputSchema),
    output: objectivesSchema,
    scope: ({ taskId }) => [taskId],
    handle: async (input, { caller }) => shownObjectives(await appendObjectives(host, caller, input)),
  })
}
