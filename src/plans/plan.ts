// The plan, and pure functions about its order. parse-plan.ts makes one, decide-round.ts compares it with the ledger.
import type { ChildOptions } from '../engine/engine-api.ts'
import { cycleIn } from '../machines/task-graph.ts'
import type { PlanDeadline, RawPlan } from './plan-schema.ts'

/** What a task of a plan is created with; the round adds `after`, `tasks` and `key`. */
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
  /** `after`, and what the groups around it come after: all that must be completed before it may start. */
  comesAfter: string[]
  /** False: it runs only as a target, or when a target comes after it. */
  autoStart: boolean
  spec: PlanTaskSpec
  deadline: PlanDeadline | undefined
  /** Shows a later run whether the definition was changed. The folder of the plan does not count. */
  definitionHash: string
  children: PlanTask[]
}

/** The top of a plan, without what its tasks inherit from it. `files` is resolved. */
export interface Plan extends Omit<RawPlan, 'cwd' | 'env' | 'shell' | 'tasks'> {
  /** Real path of the file; null for a plan that was given as a value. */
  file: string | null
  folder: string
  name: string
  tasks: PlanTask[]
  /** Groups included, in the order of the file. */
  byPath: ReadonlyMap<string, PlanTask>
}

/** True for a task with a goal, which an agent works on. */
export function isGoal({ spec }: Pick<PlanTask, 'spec'>): boolean {
  return spec.goal !== undefined
}

/** All tasks of a level and below, each group before what it holds. */
export function flatten(tasks: readonly PlanTask[]): PlanTask[] {
  return tasks.flatMap((task) => [task, ...flatten(task.children)])
}

/** The deadline of a task that is created or retried now, in epoch milliseconds. */
export function deadlineOf({ deadline }: Pick<PlanTask, 'deadline'>, now: number): number | undefined {
  if (deadline === undefined) return undefined
  return 'at' in deadline ? deadline.at : now + deadline.afterMs
}

/** The paths of a cycle among siblings in the order of the work, the first one repeated at the end; undefined for none. */
export function findCycle(level: ReadonlyArray<Pick<PlanTask, 'path' | 'after'>>): string[] | undefined {
  const after = new Map(level.map((task) => [task.path, task.after]))
  return cycleIn(after.keys(), (path) => after.get(path) ?? [])?.reverse()
}

/** The tasks that do work, in an order in which they could run one by one; otherwise in that of the file. */
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
 * Paths of the tasks that do work and that these need: themselves, what they hold, and all that they and their groups come after. The
 * search stops at a task for which `isEnough` is true.
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

/** The tasks that do work and that no other comes after. */
export function lastOf(tasks: readonly PlanTask[]): PlanTask[] {
  const blockers = new Set(tasks.flatMap((task) => task.after))
  return tasks
    .filter((task) => !blockers.has(task.path))
    .flatMap((task) => (task.group ? lastOf(task.children) : [task]))
}
