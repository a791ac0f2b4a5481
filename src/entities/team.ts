// Team tasks: the records of a task that several agents work on, besides the task's own row. Vocabulary and stored records; the
// operations are in `team/`.
import { z } from 'zod'
import { once } from '../core/once.ts'

/** Characters of an agent's name in a team. */
export const maxAgentIdLength = 100

/** Objectives that one task may have. */
export const maxObjectives = 1_000

/** In their typical order; any may follow any other. */
export const objectiveStatuses = ['todo', 'active', 'done', 'blocked'] as const
export type ObjectiveStatus = (typeof objectiveStatuses)[number]

export const stintStatuses = ['active', 'completed'] as const
export type StintStatus = (typeof stintStatuses)[number]

/** A row of the team table: one for each task that has a branch of memory. Times are epoch milliseconds. */
export interface TeamRecord {
  taskId: string
  /** The kind of work, to compare tasks by; null when not given. */
  type: string | null
  branch: string
  parentBranch: string
  /** The rule for durable facts of this task: minimum confidence in hundredths, and categories; null: the engine's. */
  durableThreshold: number | null
  durableCategories: string[] | null
  /** The outcome of the task; null until it is closed, or when not given. */
  summary: string | null
  /** The checkpoint and the merge of its closing; null before, and when there was nothing to merge. */
  checkpointId: string | null
  mergeId: string | null
  /** When its memory was finally consolidated. The task itself may have been completed before. */
  closedAt: number | null
  createdAt: number
}

/** The public view of an objective. */
export const objectiveSchema = once(() =>
  z.object({
    /** Counts from 1 within its task. */
    id: z.int(),
    description: z.string(),
    status: z.enum(objectiveStatuses),
    agentId: z.string().nullable(),
    notes: z.string().nullable(),
  }),
)

/** A row of the objective table. */
export interface ObjectiveRecord {
  taskId: string
  /** Counts from 1 within its task. */
  number: number
  description: string
  status: ObjectiveStatus
  /** The agent that works on it, or did. */
  agentId: string | null
  notes: string | null
  updatedAt: number
}

/** A row of the stint table: one period of an agent's work on a task. An agent that joins again begins another. */
export interface StintRecord {
  taskId: string
  agentId: string
  /** Counts from 1 within task and agent. */
  number: number
  role: string | null
  branch: string
  status: StintStatus
  /** Numbers of the objectives that it was assigned when it joined. */
  objectives: number[]
  /** Its own summary of its work; null while it works, or when not given. */
  summary: string | null
  /** The task whose runs are this agent; null for an agent outside of the engine. */
  workerId: string | null
  joinedAt: number
  leftAt: number | null
}

/** The team in which the agent of a task works: stored in the policy of the task, so that its steps need no lookup. */
export interface TeamPlace {
  /** The task that the team works on: its own, or an ancestor. */
  taskId: string
  /**
   * The agent's name: the requested one until its first run, then the assigned one. Null when no agent of the engine works on the task: a
   * group, or work from outside.
   */
  agentId: string | null
}
