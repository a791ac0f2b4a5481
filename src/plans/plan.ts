// The plan: what a file says, as the rest of the command line knows it, and pure questions about its order. parse-plan.ts makes one
// of a file, plan-round.ts holds it against the ledger.
import type { ChildOptions } from '../engine-api.ts'
import { cycleIn } from '../machines/task-graph.ts'
import type { PlanDeadline, RawPlan } from './plan-schema.ts'

/** What a task of a plan is created with; its place (`after`, `tasks`, `key`) is added by the round. */
export type PlanTaskSpec = Omit<ChildOptions, 'after' | 'tasks' | 'key' | 'autoStart' | 'executor' | 'deadline'> & {
  executor?: string
}

export interface PlanTask {
  /** Local names from the top, joined by `/`: unique in the plan, and what targets and `--redo` name. */
  path: string
  /** Its name beside its siblings. */
  name: string
  group: boolean
  /** Path of the group that holds it; null at the top. */
  parent: string | null
  /** Paths of the siblings that it comes after, in the order in which they were named. */
  after: string[]
  /** The same with what the groups around it come after: all that must be completed before it may start. */
  comesAfter: string[]
  /** False: runs only when it is named as a target, or when such a task comes after it. */
  autoStart: boolean
  spec: PlanTaskSpec
  deadline: PlanDeadline | undefined
  /** Of the definition, so that a later run sees that it was changed. The folder of the plan does not count. */
  definitionHash: string
  children: PlanTask[]
}

/** What the file says at its top, but for what its tasks have inherited from there. `files` is resolved. */
export interface Plan extends Omit<RawPlan, 'cwd' | 'env' | 'shell' | 'tasks'> {
  /** Real path of the file. */
  file: string
  folder: string
  name: string
  tasks: PlanTask[]
  /** Groups included, in the order of the file. */
  byPath: ReadonlyMap<string, PlanTask>
}

/** It has a goal, for an agent to reach. */
export function isGoal({ spec }: Pick<PlanTask, 'spec'>): boolean {
  return spec.goal !== undefined
}

/** All tasks of a level and below, each group before what it holds. */
export function flatten(tasks: readonly PlanTask[]): PlanTask[] {
  return tasks.flatMap((task) => [task, ...flatten(task.children)])
}

/** When the task must have settled, if it is created or tried again now. */
export function deadlineOf({ deadline }: Pick<PlanTask, 'deadline'>, now: number): number | undefined {
  if (deadline === undefined) return undefined
  return 'at' in deadline ? deadline.at : now + deadline.afterMs
}

/** The paths of a cycle among siblings, in the order of the work, the first one repeated at the end; undefined when there is none. */
export function findCycle(level: ReadonlyArray<Pick<PlanTask, 'path' | 'after'>>): string[] | undefined {
  const after = new Map(level.map((task) => [task.path, task.after]))
  return cycleIn(after.keys(), (path) => after.get(path) ?? [])?.reverse()
}

/**
 * The tasks that do work, in an order in which they could run one by one; that of the file where nothing else decides.
 */
export function inOrder(tasks: readonly PlanTask[]): PlanTask[] {
  const byPath = new Map(tasks.map((task) => [task.path, task]))
  const placed = new Set<string>()
  const ordered: PlanTask[] = []
  const place = (task: PlanTask): void => {
    if (placed.has(task.path)) return
    placed.add(task.path)
    for (const blocker of task.after) place(byPath.get(blocker) as PlanTask)
    for (const each of task.group ? inOrder(task.children) : [task]) ordered.push(each)
  }
  for (const task of tasks) place(task)
  return ordered
}

/** The tasks that do work, at or below a task. */
export function leavesOf(task: PlanTask): PlanTask[] {
  return task.group ? task.children.flatMap(leavesOf) : [task]
}

/**
 * Paths of the working tasks that these need: themselves, what is in them, and all that they and their groups come after. What
 * comes before a task that `isEnough` is not looked at.
 */
export function neededBy(
  targets: readonly PlanTask[],
  byPath: ReadonlyMap<string, PlanTask>,
  isEnough: (task: PlanTask) => boolean = () => false,
): Set<string> {
  const needed = new Set<string>()
  const visited = new Set<string>()
  const visit = (task: PlanTask): void => {
    if (visited.has(task.path)) return
    visited.add(task.path)
    if (!task.group) needed.add(task.path)
    if (isEnough(task)) return
    for (const child of task.children) visit(child)
    for (const blocker of task.comesAfter) visit(byPath.get(blocker) as PlanTask)
  }
  for (const target of targets) visit(target)
  return needed
}

/** The working tasks that no other comes after: what a plan is for. */
export function lastOf(tasks: readonly PlanTask[]): PlanTask[] {
  const blockers = new Set(tasks.flatMap((task) => task.after))
  return tasks
    .filter((task) => !blockers.has(task.path))
    .flatMap((task) => (task.group ? lastOf(task.children) : [task]))
}
