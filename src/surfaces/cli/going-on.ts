// Whether anything still goes on with some tasks, or all is quiet until somebody comes. A task that waits for others goes on as
// long as one of those does: an agent waits for the subtasks it has given away, and these may wait for a person.
import type { Engine } from '../../api.ts'
import { isSettled, type Task } from '../../entities/task.ts'
import { isGoingOn, isUnclear } from './verdict.ts'

/** @param tasks open ones; groups count through what they hold. */
export async function goesOn(engine: Engine, tasks: readonly Task[]): Promise<boolean> {
  return await anyGoesOn(engine, tasks, new Set())
}

async function anyGoesOn(engine: Engine, tasks: readonly Task[], seen: Set<string>): Promise<boolean> {
  if (tasks.some((task) => !task.group && isGoingOn(task, undefined))) return true
  for (const task of tasks) {
    if (seen.has(task.id)) continue
    seen.add(task.id)
    if (await restsOnWork(engine, task, seen)) return true
  }
  return false
}

async function restsOnWork(engine: Engine, task: Task, seen: Set<string>): Promise<boolean> {
  if (task.group) return await anyGoesOn(engine, open(await engine.children(task.id)), seen)
  if (!isUnclear(task)) return await anyGoesOn(engine, await tasksBy(engine, task.blockedBy), seen)
  const why = await engine.why(task.id)
  if (isGoingOn(task, why)) return true
  return why.reason === 'children' && (await anyGoesOn(engine, await tasksBy(engine, why.tasks), seen))
}

async function tasksBy(engine: Engine, ids: readonly string[]): Promise<Task[]> {
  return open(await Promise.all(ids.map((id) => engine.get(id))))
}

function open(tasks: ReadonlyArray<Task | null>): Task[] {
  return tasks.filter((task) => task !== null && !isSettled(task.status)) as Task[]
}

/** What agents have given away and is still open, of these tasks and all below them. */
export async function openSubtasks(engine: Engine, tasks: readonly Task[]): Promise<Task[]> {
  const agents = tasks.filter((task) => task.executor === 'agent' && !isSettled(task.status))
  const below = await Promise.all(agents.map((task) => engine.subtree(task.id)))
  return open(below.flat())
}
