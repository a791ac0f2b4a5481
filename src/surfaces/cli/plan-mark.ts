// What a task of a plan carries in its metadata, under `plan`: which task of which plan it is and by which definition
// it was made. The keys could not say it, for a long path is hashed in them.
import { z } from 'zod'
import type { Task } from '../../entities/task.ts'

const markSchema = z.object({
  /** Its path in the plan; empty for the group that holds a generation. */
  path: z.string(),
  /** Counts the groups of a round from 0; of two tasks with one path the later is the one that counts. */
  generation: z.int().min(0),
  /** The generation whose tasks its dependencies were last aligned with. */
  edges: z.int().min(0),
  /** Hash of its definition. */
  definition: z.string(),
  /** Where the plan lay: folders inside its definition begin there. */
  folder: z.string(),
  /** It was created with nothing asking for it, so it may still wait to be let go. */
  held: z.boolean(),
  /** Which call of the command line made the generation. */
  invocation: z.string(),
})

export type PlanMark = z.infer<typeof markSchema>

/** A task of a plan as the ledger has it. */
export interface KnownTask {
  task: Task
  mark: PlanMark
}

export function markOf(task: Pick<Task, 'metadata'>): PlanMark | undefined {
  return markSchema.safeParse(task.metadata['plan']).data
}

/** The metadata of a task: the user's, and the mark. */
export function withMark(metadata: Record<string, unknown> | undefined, mark: PlanMark): Record<string, unknown> {
  return { ...metadata, plan: { ...mark } }
}
