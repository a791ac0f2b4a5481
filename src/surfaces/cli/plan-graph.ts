// Pure questions about the order of a plan: is there a cycle, what comes first, what does a target need.
import type { PlanTask } from './plan.ts'

type Ordered = Pick<PlanTask, 'path' | 'after'>

/** The paths of a cycle among siblings, the first one repeated at the end; undefined when there is none. */
export function findCycle(level: readonly Ordered[]): string[] | undefined {
  const byPath = new Map(level.map((task) => [task.path, task]))
  const done = new Set<string>()
  const trail: string[] = []
  const visit = (path: string): string[] | undefined => {
    if (done.has(path)) return undefined
    const seen = trail.indexOf(path)
    if (seen >= 0) return [...trail.slice(seen), path]
    trail.push(path)
    for (const blocker of byPath.get(path)?.after ?? []) {
      const cycle = visit(blocker)
      if (cycle !== undefined) return cycle
    }
    trail.pop()
    done.add(path)
    return undefined
  }
  for (const task of level) {
    const cycle = visit(task.path)
    if (cycle !== undefined) return cycle.reverse()
  }
  return undefined
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
    ordered.push(...(task.group ? inOrder(task.children) : [task]))
  }
  for (const task of tasks) place(task)
  return ordered
}

/** The tasks that do work, at or below a task. */
export function leavesOf(task: PlanTask): PlanTask[] {
  return task.group ? task.children.flatMap(leavesOf) : [task]
}

/**
 * Paths of the working tasks that these need: themselves, what is in them, and all that they and their groups come
 * after.
 */
export function neededBy(targets: readonly PlanTask[], byPath: ReadonlyMap<string, PlanTask>): Set<string> {
  const needed = new Set<string>()
  const visited = new Set<string>()
  const visit = (task: PlanTask): void => {
    if (visited.has(task.path)) return
    visited.add(task.path)
    if (!task.group) needed.add(task.path)
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
