// The tasks of a plan's round as they are in the ledger: each has a mark in its metadata, which says which task of the plan it is.
import { z } from 'zod'
import { isSettled, type Task } from '../entities/task.ts'

/**
 * The mark of a plan's task, in its metadata under `plan`: which task of the plan it is, and by which definition it was created. The key
 * does not hold a long path, but its hash.
 */
const markSchema = z.object({
  /** Its path in the plan; empty for the group that holds a generation. */
  path: z.string(),
  /** From 0; of two tasks with one path the one of the later generation counts. */
  generation: z.int().min(0),
  /** The generation whose tasks its dependencies were last aligned with. */
  edges: z.int().min(0),
  /** Hash of its definition. */
  definition: z.string(),
  /** Folder of the plan, where relative folders in the definition begin. */
  folder: z.string(),
  /** It was created held, because no target needed it. */
  held: z.boolean(),
  /** The run of the plan that created the generation. */
  invocation: z.string(),
})

export type PlanMark = z.infer<typeof markSchema>

/** A task of a plan in the ledger. */
export interface KnownTask {
  task: Task
  mark: PlanMark
}

export function markOf(task: Pick<Task, 'metadata'>): PlanMark | undefined {
  return markSchema.safeParse(task.metadata['plan']).data
}

/** The user's metadata with the mark. */
export function withMark(metadata: Record<string, unknown> | undefined, mark: PlanMark): Record<string, unknown> {
  return { ...metadata, plan: { ...mark } }
}

/** The tasks of a round in the ledger. */
export interface KnownRound {
  /** The newest task of each path, groups included. */
  newest: ReadonlyMap<string, KnownTask>
  /** Number of the next generation. */
  nextGeneration: number
}

/** The tasks of a round; those without a mark (added by hand) do not count. */
export function knownRound(tasks: Iterable<Task>): KnownRound {
  const newest = new Map<string, KnownTask>()
  let nextGeneration = 0
  for (const task of tasks) {
    const mark = markOf(task)
    if (mark === undefined) continue
    nextGeneration = Math.max(nextGeneration, mark.generation + 1)
    const rival = newest.get(mark.path)
    if (rival === undefined || rival.mark.generation < mark.generation) newest.set(mark.path, { task, mark })
  }
  return { newest, nextGeneration }
}

/** The round after some of its tasks have been written. */
export function withTasks({ newest, nextGeneration }: KnownRound, written: readonly Task[]): KnownRound {
  const all = new Map(newest)
  for (const task of written) {
    const mark = markOf(task)
    if (mark !== undefined && all.get(mark.path)?.task.id === task.id) all.set(mark.path, { task, mark })
  }
  return { newest: all, nextGeneration }
}

export function tasksOf(known: KnownRound): Task[] {
  return Array.from(known.newest.values(), ({ task }) => task)
}

/** The tasks that do work and are not settled, those that wait for an answer included: it may have been given by now. */
export function openWork(known: KnownRound): Task[] {
  return tasksOf(known).filter((task) => !task.group && !isSettled(task.status))
}
