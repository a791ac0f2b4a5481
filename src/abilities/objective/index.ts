// The abilities of what a team is to reach: objectives are added, change, and what became of them is listed.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { maxObjectives, objectiveStatuses } from '../../entities/team.ts'
import {
  appendObjectives,
  objectiveLog as logOf,
  objectiveChangeSchema,
  updateObjective,
} from '../../team/objectives.ts'
import type { AbilityHost } from '../ability-host.ts'
import { agentIdSchema, objectiveAliases, objectiveIdSchema } from '../agent/agent-input.ts'
import { eitherCase } from '../key-case.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { objectivesSchema } from '../views/team-view.ts'

const addSchema = z.strictObject({
  taskId: taskIdSchema,
  descriptions: z
    .array(z.string().trim().min(1).max(10_000))
    .min(1)
    .max(maxObjectives)
    .describe('What is to be reached, one thing each.'),
})

/** They are numbered on, and begin as todo. */
function objectiveAdd(host: AbilityHost) {
  return defineAbility({
    id: 'objective:add',
    access: 'control',
    description: 'Adds objectives to a task.',
    input: eitherCase(addSchema),
    output: objectivesSchema,
    scope: ({ taskId }) => [taskId],
    handle: async (input, { caller }) => ({ objectives: await appendObjectives(host, caller, input) }),
  })
}

const updateSchema = z.strictObject({
  taskId: taskIdSchema,
  objectiveId: objectiveIdSchema,
  status: z.enum(objectiveStatuses).describe('Any may follow any other.'),
  agentId: agentIdSchema.nullable().optional().describe('Who works on it; null: nobody. Default: as it was.'),
  notes: z.string().trim().max(10_000).nullable().optional().describe('Default: as they were.'),
})

/** A caller with a task may name the task of its own subtree, or the one that its team works on: judged in the step itself. */
function objectiveUpdate(host: AbilityHost) {
  return defineAbility({
    id: 'objective:update',
    access: 'control',
    description: 'Says how an objective of a task stands: todo, active, done or blocked, and who works on it.',
    input: eitherCase(updateSchema, objectiveAliases),
    output: objectivesSchema,
    // Said again, it is no news.
    onInterrupt: 'rerun',
    handle: async (input, { caller }) => ({ objectives: await updateObjective(host, caller, input) }),
  })
}

const logSchema = z.strictObject({
  taskId: taskIdSchema,
  objectiveId: objectiveIdSchema.optional().describe('Only this one. Default: all.'),
})

/** A caller with a task may name the task of its own subtree, or the one that its team works on: judged in the read itself. */
function objectiveLog(host: AbilityHost) {
  return defineAbility({
    id: 'objective:log',
    access: 'read',
    description: 'Lists the changes of the objectives of a task, the oldest first: when, by whom, from what to what.',
    input: eitherCase(logSchema, objectiveAliases),
    output: z.object({ changes: z.array(objectiveChangeSchema) }),
    handle: async (input, { caller }) => ({ changes: await logOf(host, caller, input) }),
  })
}

/** This list alone puts them on the bus and makes their types known. */
export const objectiveAbilities = [objectiveAdd, objectiveLog, objectiveUpdate] as const
