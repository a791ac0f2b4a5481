// A team's task as abilities show it: its context, its objectives, and what the end of an agent or of the task came to.
import { z } from 'zod'
import { objectiveSchema } from '../../entities/team.ts'
import type { TeamContext, teamContextSchema } from '../../team/context.ts'
import type { Objective } from '../../team/objectives.ts'

export { teamContextSchema, teamTaskSchema } from '../../team/context.ts'

export const objectivesSchema = z.object({ objectives: z.array(objectiveSchema) })

export function shownObjectives(objectives: Objective[]): z.input<typeof objectivesSchema> {
  return { objectives }
}

/** The schema's word for what a team knows. */
export function shownContext(context: TeamContext): z.input<typeof teamContextSchema> {
  return context
}

const count = z.int().min(0)

/** What a merge of one branch into another came to. */
export const mergeShape = {
  /** Facts that the target holds by it, new or confirmed. */
  merged: count,
  /** Facts that were settled against. */
  rejected: count,
  conflicts: z.array(
    z.object({
      factId: z.string(),
      otherId: z.string(),
      ground: z.enum(['numbers', 'negation', 'function']),
      resolution: z.enum(['keep-both', 'source', 'target']),
    }),
  ),
  mergeId: z.string(),
}
