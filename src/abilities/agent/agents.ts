// The work of agents in teams: an agent joins a task, has done its part, or is asked what it has worked on so far.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { taskIdSchema } from '../../entities/task-fields.ts'
import { maxObjectives } from '../../entities/team.ts'
import { countsShape } from '../../memory/consolidation-run.ts'
import { mergeOutcomeSchema } from '../../memory/merge.ts'
import { completeAgent } from '../../team/complete-agent.ts'
import { joinTeam } from '../../team/join.ts'
import { stintsOf, timelineSchema } from '../../team/teams.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../key-case.ts'
import { refuseTasks } from '../own-tasks.ts'
import { teamContextSchema } from '../views/team-view.ts'
import {
  agentIdSchema,
  limitSchema,
  objectiveIdSchema,
  offsetSchema,
  roleSchema,
  summarySchema,
} from './agent-input.ts'

const joinSchema = z.strictObject({
  taskId: taskIdSchema,
  agentId: agentIdSchema,
  role: roleSchema.optional().describe('As what it works: implementer, reviewer, …'),
  objectives: z
    .array(objectiveIdSchema)
    .max(maxObjectives)
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
    input: eitherCase(joinSchema, { assignedObjectives: 'objectives' }),
    output: z.object({ branch: z.string(), context: teamContextSchema }),
    scope: ({ taskId }) => [taskId],
    handle: (input, { caller }) => joinTeam(host, caller, input),
  })
}

const completeSchema = z.strictObject({
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
    input: eitherCase(completeSchema, { resultSummary: 'summary' }),
    output: z.object({
      ...mergeOutcomeSchema.shape,
      consolidation: z.object({ ...countsShape, summary: z.string().nullable() }),
    }),
    scope: ({ taskId }) => [taskId],
    handle: (input, { caller }) => completeAgent(host, caller, input),
  })
}

const stintsSchema = z.strictObject({
  agentId: agentIdSchema,
  limit: limitSchema.default(20),
  offset: offsetSchema.default(0),
})

/** The latest first. It crosses all tasks, so it is for people and programs. */
export function agentTimeline(host: AbilityHost) {
  return defineAbility({
    id: 'agent:timeline',
    access: 'read',
    description: 'Lists what an agent has worked on, on all tasks: as what, from when to when, and what it did there.',
    input: eitherCase(stintsSchema),
    output: z.object({ stints: z.array(timelineSchema) }),
    models: false,
    async handle(input, { caller }) {
      refuseTasks(caller, 'agent:timeline')
      return { stints: await stintsOf(host, input) }
    },
  })
}
