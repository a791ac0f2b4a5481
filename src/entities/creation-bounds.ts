// How many tasks a caller may create that is a model, or speaks for one task; and how many a single request of a surface may.
import { z } from 'zod'

/** How many tasks a model, or a caller with a task, may create. Deleted tasks count, too. */
export interface CreationBounds {
  /**
   * Tasks in all, below the caller's own task; for a caller without one, below each root that it creates, or below the task that it adds
   * to. Subtasks of subtasks count, whichever model created them.
   */
  maxTasks: number
  /** Children of one task. */
  maxChildren: number
  /** Levels below the caller's own task, or below a root. */
  maxDepth: number
}

/**
 * What holds for models unless who configures them says otherwise. A model that creates tasks for models grows its tree by a power of its
 * depth, each of them costs money, and a prompt that it has read may have asked for them. The plans that models make have some dozens of
 * tasks and three or four levels: these bounds leave room for ten times that, and end what has run away within seconds.
 */
export const modelBounds: Readonly<CreationBounds> = Object.freeze({ maxTasks: 1_000, maxChildren: 100, maxDepth: 8 })

/**
 * How many tasks one request of a surface may create unless its options say otherwise. A request is one transaction, and the event loop
 * does nothing else meanwhile: a body of one megabyte could name a hundred thousand tasks.
 */
export const maxTasksPerRequest = 1_000

/** How many dependencies one request may create for each task that it may create, whichever of its tasks has them. */
export const dependenciesPerTask = 10

/** How much a request would create. */
export interface CreationSize {
  tasks: number
  /** Each task after which one of them comes. */
  dependencies: number
}

const bound = z.int().min(0).max(1_000_000)
export const creationBoundsSchema = z.strictObject({
  maxTasks: bound.exactOptional(),
  maxChildren: bound.exactOptional(),
  maxDepth: bound.exactOptional(),
})

/** Tasks that models create below a task are counted in its row, and are at most so many. */
export interface TaskBudget {
  /** Id of that task. */
  of: string
  maxTasks: number
}

/** What holds for models below a task, kept with it: whatever model works there, its bounds are never wider. */
export interface TaskBounds {
  /** All of them hold. */
  budgets: TaskBudget[]
  maxChildren: number
  /** Levels that there may be below it. */
  maxDepth: number
}
