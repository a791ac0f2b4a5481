// The abilities of a team's objectives: add, update, and list their changes.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { maxObjectives, objectiveStatuses } from '../../entities/team.ts'
import { eitherCase } from '../../operations/key-case.ts'
import { taskIdSchema } from '../../operations/task/task-input.ts'
import { appendObjectives, objectiveLog as logOf, objectiveChangeSchema, updateObjective } from '../team/objectives.ts'
import { agentIdSchema, objectiveAliases, objectiveIdSchema } from './agent-input.ts'
import { defineMemoryOperation } from './memory-ability-host.ts'
import { objectivesSchema } from './team-view.ts'

const addSchema = once(() =>
  z.strictObject({
    taskId: taskIdSchema,
    descriptions: z
      .array(z.string().trim().min(1).max(10_000))
      .min(1)
      .max(maxObjectives)
      .describe('One objective each.'),
  }),
)

/** New objectives continue the numbering and start as todo. */
export const objectiveAdd = defineMemoryOperation({
  id: 'objective:add',
  access: 'control',
  description: 'Adds objectives to a task.',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/objectives',
      tag: 'Teams',
      operationId: 'addObjectives',
      summary: 'Add objectives to a task',
    },
  ],
  input: () => eitherCase(addSchema()),
  output: objectivesSchema,
  scope: ({ taskId }) => [taskId],
  handle: async (input, { caller }, host) => ({ objectives: await appendObjectives(host, caller, input) }),
})

const updateSchema = once(() =>
  z.strictObject({
    taskId: taskIdSchema,
    objectiveId: objectiveIdSchema(),
    status: z.enum(objectiveStatuses).describe('Any status may follow any other.'),
    agentId: agentIdSchema()
      .nullable()
      .optional()
      .describe('Agent that works on it; null removes it. Default: unchanged.'),
    notes: z.string().trim().max(10_000).nullable().optional().describe('Default: unchanged.'),
  }),
)

/** A caller with a task may name a task of its own subtree, or the one that its team works on. Validated in the step itself. */
export const objectiveUpdate = defineMemoryOperation({
  id: 'objective:update',
  access: 'control',
  description: 'Updates an objective of a task: its status (todo, active, done or blocked), agent and notes.',
  routes: [
    {
      endpoint: 'PATCH /tasks/{taskId}/objectives/{objectiveId}',
      tag: 'Teams',
      operationId: 'updateObjective',
      summary: 'Update an objective',
    },
  ],
  input: () => eitherCase(updateSchema(), objectiveAliases),
  output: objectivesSchema,
  // A repetition changes nothing.
  onInterrupt: 'rerun',
  handle: async (input, { caller }, host) => ({ objectives: await updateObjective(host, caller, input) }),
})

const logSchema = once(() =>
  z.strictObject({
    taskId: taskIdSchema,
    objectiveId: objectiveIdSchema().optional().describe('Only changes of this objective. Default: all.'),
  }),
)

/** A caller with a task may name a task of its own subtree, or the one that its team works on. Validated in the read itself. */
export const objectiveLog = defineMemoryOperation({
  id: 'objective:log',
  access: 'read',
  description: 'Lists the changes of the objectives of a task, oldest first: time, agent, previous and new status.',
  input: () => eitherCase(logSchema(), objectiveAliases),
  output: () => z.object({ changes: z.array(objectiveChangeSchema) }),
  handle: async (input, { caller }, host) => ({ changes: await logOf(host, caller, input) }),
})
