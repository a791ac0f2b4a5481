// The abilities agent:join, agent:complete and agent:timeline: agents join a task, complete their work, and list their past work.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { taskIdSchema } from '../../entities/task-fields.ts'
import { maxObjectives } from '../../entities/team.ts'
import { eitherCase } from '../../operations/key-case.ts'
import { refuseTasks } from '../../operations/own-tasks.ts'
import { countsShape } from '../consolidation-run.ts'
import { mergeOutcomeSchema } from '../merge.ts'
import { completeAgent } from '../team/complete-agent.ts'
import { joinTeam } from '../team/join.ts'
import { stintsOf, timelineSchema } from '../team/teams.ts'
import {
  agentIdSchema,
  limitSchema,
  objectiveIdSchema,
  offsetSchema,
  roleSchema,
  summarySchema,
} from './agent-input.ts'
import { defineMemoryOperation } from './memory-ability-host.ts'
import { teamContextSchema } from './team-view.ts'

const joinSchema = once(() =>
  z.strictObject({
    taskId: taskIdSchema,
    agentId: agentIdSchema(),
    role: roleSchema().optional().describe('Role of the agent: implementer, reviewer, …'),
    objectives: z
      .array(objectiveIdSchema())
      .max(maxObjectives)
      .optional()
      .describe('Objectives that the agent takes; their status becomes active.'),
  }),
)

/** A caller with a task may only name tasks of its own subtree. */
export const agentJoin = defineMemoryOperation({
  id: 'agent:join',
  access: 'create',
  description:
    'Adds an agent to the team of a task. Creates a memory branch for it and returns the context of the team.',
  routes: [
    { endpoint: 'POST /tasks/{taskId}/join', tag: 'Teams', operationId: 'joinTask', summary: 'Add an agent to a task' },
  ],
  input: () => eitherCase(joinSchema(), { assignedObjectives: 'objectives' }),
  output: () => z.object({ branch: z.string(), context: teamContextSchema() }),
  scope: ({ taskId }) => [taskId],
  handle: (input, { caller }, host) => joinTeam(host, caller, input),
})

const completeSchema = once(() =>
  z.strictObject({
    taskId: taskIdSchema,
    agentId: agentIdSchema(),
    summary: summarySchema()
      .optional()
      .describe('What the agent did, in a few sentences. Default: derived from its facts.'),
  }),
)

/** A caller with a task may only name tasks of its own subtree. */
export const agentComplete = defineMemoryOperation({
  id: 'agent:complete',
  access: 'control',
  description:
    'Completes the work of an agent on a task: consolidates its observations into facts and merges its memory branch into that of the team.',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/agents/{agentId}/complete',
      tag: 'Teams',
      operationId: 'completeAgent',
      summary: 'Complete the work of an agent',
    },
  ],
  input: () => eitherCase(completeSchema(), { resultSummary: 'summary' }),
  output: () =>
    z.object({
      ...mergeOutcomeSchema().shape,
      consolidation: z.object({ ...countsShape, summary: z.string().nullable() }),
    }),
  scope: ({ taskId }) => [taskId],
  handle: (input, { caller }, host) => completeAgent(host, caller, input),
})

const stintsSchema = once(() =>
  z.strictObject({
    agentId: agentIdSchema(),
    limit: limitSchema().default(20),
    offset: offsetSchema().default(0),
  }),
)

/** Latest first. Spans all tasks, so it is reserved for people and programs. */
export const agentTimeline = defineMemoryOperation({
  id: 'agent:timeline',
  access: 'read',
  description: 'Lists the work of an agent across all tasks, latest first: role, start, end and summary.',
  routes: [
    {
      endpoint: 'GET /agents/{agentId}/timeline',
      tag: 'Teams',
      operationId: 'getTimeline',
      summary: 'List the work of an agent',
    },
  ],
  input: () => eitherCase(stintsSchema()),
  output: () => z.object({ stints: z.array(timelineSchema) }),
  models: false,
  async handle(input, { caller }, host) {
    refuseTasks(caller, 'agent:timeline')
    return { stints: await stintsOf(host, input) }
  },
})
