// A team's task as abilities show it: its context, its objectives, and what the end of an agent or of the task came to.
import { z } from 'zod'
import { taskStatuses } from '../../entities/task.ts'
import { objectiveStatuses } from '../../entities/team.ts'
import type { TeamContext } from '../../team/context.ts'

const objectiveSchema = z.object({
  id: z.int(),
  description: z.string(),
  status: z.enum(objectiveStatuses),
  agentId: z.string().nullable(),
  notes: z.string().nullable(),
})

export const objectivesSchema = z.object({ objectives: z.array(objectiveSchema) })

/** Every time is in epoch milliseconds. */
export const teamTaskSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  type: z.string().nullable(),
  tags: z.array(z.string()),
  status: z.enum(taskStatuses),
  /** Null for a task without a team. */
  branch: z.string().nullable(),
  parentBranch: z.string().nullable(),
  summary: z.string().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
  completedAt: z.number().nullable(),
})

const count = z.int().min(0)

export const teamContextSchema = z.object({
  task: teamTaskSchema,
  objectives: z.array(objectiveSchema),
  agentSummaries: z.array(z.object({ agentId: z.string(), role: z.string().nullable(), summary: z.string() })),
  activeAgents: z.array(z.object({ agentId: z.string(), role: z.string().nullable(), objectives: z.array(z.int()) })),
  keyFacts: z.array(
    z.object({
      id: z.string(),
      text: z.string(),
      category: z.string(),
      confidence: z.number(),
      agentId: z.string().nullable(),
    }),
  ),
  progress: z.object({ total: count, done: count, active: count, todo: count, blocked: count }),
})

/** The schema's word for what a team knows. */
export function shownContext(context: TeamContext): z.input<typeof teamContextSchema> {
  return context
}
