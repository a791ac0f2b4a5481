// How many tasks a model, or a caller with a task, may create; and how many a single request of a surface may.
import { z } from 'zod'

/** How many tasks a model, or a caller with a task, may create. Deleted tasks count too. */
export interface CreationBounds {
  /**
   * Tasks in all, below the caller's own task; for a caller without one, below each root that it creates, or below the task that it adds
   * to. Subtasks of subtasks count, whichever model creates them.
   */
  maxTasks: number
  /** Children of one task. */
  maxChildren: number
  /** Levels below the caller's own task, or below a root. */
  maxDepth: number
}

/**
 * The default bounds of models. Models that create tasks for models grow a tree exponentially, each task costs money, and a prompt that was
 * read may have asked for it. Plans of models have a few dozen tasks on three or four levels; these bounds allow ten times that and stop
 * a runaway tree within seconds.
 */
export const modelBounds: Readonly<CreationBounds> = Object.freeze({ maxTasks: 1_000, maxChildren: 100, maxDepth: 8 })

/**
 * The default maximum of tasks that one request of a surface may create. A request is one transaction that blocks the event loop, and a
 * body of one megabyte could name a hundred thousand tasks.
 */
export const maxTasksPerRequest = 1_000

/** One request may create this number of dependencies for each task that it may create, distributed over its tasks in any way. */
export const dependenciesPerTask = 10

/** The number of tasks and dependencies that a request would create. */
export interface CreationSize {
  tasks: number
  dependencies: number
}

const bound = z.int().min(0).max(1_000_000)
export const creationBoundsSchema = z.strictObject({
  maxTasks: bound.exactOptional(),
  maxChildren: bound.exactOptional(),
  maxDepth: bound.exactOptional(),
})

/** The limit on tasks that models create below a task, which counts them in its row. */
export interface TaskBudget {
  /** Id of that task. */
  of: string
  maxTasks: number
}

/** The bounds for models below a task, stored with it. They apply to every model that works there. */
export interface TaskBounds {
  /** All of them apply. */
  budgets: TaskBudget[]
  maxChildren: number
  /** Levels below it. */
  maxDepth: number
}
