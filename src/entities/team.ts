// Team tasks: what is known of a task that several agents work on, beside the task's own row. Vocabulary and shapes of what is
// stored; what is done with them lives in `team/`.
import { z } from 'zod'

/** Characters of the name under which an agent works in a team. */
export const maxAgentIdLength = 100

/** Objectives that one task may have. */
export const maxObjectives = 1_000

/** In the order in which they are usually passed; any may follow any other (conformance C-65). */
export const objectiveStatuses = ['todo', 'active', 'done', 'blocked'] as const
export type ObjectiveStatus = (typeof objectiveStatuses)[number]

export const stintStatuses = ['active', 'completed'] as const
export type StintStatus = (typeof stintStatuses)[number]

/** A row of the team table: one for each task that has a branch of memory. Times are epoch milliseconds. */
export interface TeamRecord {
  taskId: string
  /** What kind of work it is, to compare tasks by; null when nobody said. */
  type: string | null
  branch: string
  parentBranch: string
  /** What is durable in this task: least confidence in hundredths, categories; null: as the engine says. */
  durableThreshold: number | null
  durableCategories: string[] | null
  /** What the task came to; null until it is closed, or when nobody said. */
  summary: string | null
  /** The checkpoint and the merge of its closing; null before, and where nothing was to be merged. */
  checkpointId: string | null
  mergeId: string | null
  /** When its memory was consolidated for good. The task itself may have been completed before. */
  closedAt: number | null
  createdAt: number
}

/** An objective as everybody sees it. */
export const objectiveSchema = z.object({
  /** Counts from 1 within its task. */
  id: z.int(),
  description: z.string(),
  status: z.enum(objectiveStatuses),
  agentId: z.string().nullable(),
  notes: z.string().nullable(),
})

/** A row of the objective table. */
export interface ObjectiveRecord {
  taskId: string
  /** Counts from 1 within its task. */
  number: number
  description: string
  status: ObjectiveStatus
  /** Who works on it, or did. */
  agentId: string | null
  notes: string | null
  updatedAt: number
}

/** A row of the stint table: one stretch of an agent's work on a task. An agent that comes back begins another. */
export interface StintRecord {
  taskId: string
  agentId: string
  /** Counts from 1 within task and agent. */
  number: number
  role: string | null
  branch: string
  status: StintStatus
  /** Numbers of the objectives that it was given when it joined. */
  objectives: number[]
  /** What it did, in its own words; null while it works, or when nobody said. */
  summary: string | null
  /** The task whose runs are this agent; null for one that works from outside. */
  workerId: string | null
  joinedAt: number
  leftAt: number | null
}

/** Where the agent of a task works: stored in the policy of the task, so that its steps need not look it up. */
export interface TeamPlace {
  /** The task that the team works on: its own, or one above it. */
  taskId: string
  /**
   * Under which name, as it wishes until its first run and as it was given from then on. Null where no agent of the engine works on
   * the task: a group, or work from outside.
   */
  agentId: string | null
}
