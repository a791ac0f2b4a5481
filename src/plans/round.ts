// The tasks of a plan's round as they are in the ledger: each has a mark in its metadata, which says which task of the plan it is.

import { dirname, join, relative } from 'node:path'
import { z } from 'zod'
import { sha256 } from '../core/sha256.ts'
import type { Engine } from '../engine/engine-api.ts'
import { isSettled, type Task } from '../entities/task.ts'
import { isRootOf, type Trees } from '../entities/task-trees.ts'
import { allTasks, eachTask } from './each-task.ts'
import type { Plan } from './plan.ts'

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

// The keys of a plan's tasks. A round is one pass through a plan. It creates its tasks in generations: the first holds the whole plan,
// each later one the tasks that were added or are redone. Keys are idempotency keys of the ledger, so two processes that start the same
// round at once create one set of tasks.

/** The ledger takes keys of 500 characters; a longer part is replaced by its hash. */
const maxPartLength = 200

/**
 * The prefix of all rounds of a plan: the path of its file relative to the ledger, so that both can move together. For a plan that was
 * given as a value it is its folder and name, after a slash, with which no relative path begins.
 */
export function planKey({ file, folder, name }: Pick<Plan, 'file' | 'folder' | 'name'>, ledger: string): string {
  const from = dirname(ledger)
  if (file !== null) return `plan:${bounded(relative(from, file))}#`
  return `plan:/${bounded(join(relative(from, folder), encodeURIComponent(name)))}#`
}

/** The round with a name of its own. The sign `=` keeps it apart from the counted ones. */
function namedRound(plan: string, name: string): string {
  return `${plan}=${bounded(name.replace(/[^\w.:,@-]/g, encodeURIComponent))}`
}

/** Key of the group that holds a generation. */
export function generationKey(round: string, generation: number): string {
  return generation === 0 ? round : `${round}+${generation}`
}

/** Key of a task in a generation. */
export function taskKey(round: string, generation: number, path: string): string {
  return `${generationKey(round, generation)}/${bounded(path)}`
}

/** The prefixes of the keys of a round's tasks: round 1 must not find those of round 10. */
function roundPrefixes(round: string): string[] {
  return [`${round}/`, `${round}+`]
}

/** The trees that hold the tasks of a round and the subtasks that its agents create. A task whose group was deleted is a root. */
export function treesOf(round: string): Trees {
  return { rootKeys: [round], rootKeyPrefixes: roundPrefixes(round) }
}

/** Whether a task belongs to a round: the root above it, or itself, has a key of that round. */
export async function isOfRound(engine: Engine, round: string, task: Task): Promise<boolean> {
  let root: Task | null = task
  while (root !== null && root.parentId !== null) root = await engine.get(root.parentId)
  return root !== null && isRootOf(treesOf(round), root)
}

function bounded(text: string): string {
  return text.length <= maxPartLength ? text : `~${sha256(text)}`
}

// Finds the round that is meant, and reads its tasks from the ledger.

/** Which round of a plan is meant. */
export interface RoundChoice {
  /** The round of this name. Default: the latest counted round. */
  key?: string | undefined
  /** The next counted round. */
  again?: boolean | undefined
}

/** The name of a round: the key of its first generation. */
export async function chooseRound(engine: Engine, plan: string, { key, again = false }: RoundChoice): Promise<string> {
  return key === undefined ? await countedRound(engine, plan, again) : namedRound(plan, key)
}

/** The latest counted round of a plan, or the one after it; the first is 1. */
async function countedRound(engine: Engine, plan: string, again: boolean): Promise<string> {
  let highest = 0
  for await (const task of eachTask(engine, { keyPrefix: plan, parentId: null })) {
    const counted = /^(\d+)(?:$|[+/])/.exec(task.key?.slice(plan.length) ?? '')
    if (counted !== null) highest = Math.max(highest, Number(counted[1]))
  }
  return `${plan}${again ? highest + 1 : Math.max(highest, 1)}`
}

/** Reads the tasks of a round. */
export async function readRound(engine: Engine, round: string): Promise<KnownRound> {
  const pages = await Promise.all(roundPrefixes(round).map((keyPrefix) => allTasks(engine, { keyPrefix })))
  // Metadata can be changed, keys cannot: a mark counts only on the task that was made under its name.
  return knownRound(pages.flat().filter((task) => isMarkedAsKeyed(task, round)))
}

function isMarkedAsKeyed(task: Task, round: string): boolean {
  const mark = markOf(task)
  if (mark === undefined) return false
  const { generation, path } = mark
  return task.key === (path === '' ? generationKey(round, generation) : taskKey(round, generation, path))
}
