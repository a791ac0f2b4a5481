// All tasks that a filter finds, on any number of pages.

import type { Engine } from '../engine/engine-api.ts'
import type { ListOptions } from '../entities/options.ts'
import { type BriefTask, briefTask, type Task } from '../entities/task.ts'

const pageSize = 1_000

export async function* eachTask(engine: Engine, filter: Omit<ListOptions, 'limit' | 'after'>): AsyncGenerator<Task> {
  let after: string | null = null
  do {
    const page = await engine.list({ ...filter, limit: pageSize, after: after ?? undefined })
    yield* page.tasks
    after = page.next
  } while (after !== null)
}

export async function allTasks(engine: Engine, filter: Omit<ListOptions, 'limit' | 'after'> = {}): Promise<Task[]> {
  const tasks: Task[] = []
  for await (const task of eachTask(engine, filter)) tasks.push(task)
  return tasks
}

/** All of them, without their long fields: these of all tasks may be more than the memory of the process. */
export async function allBriefly(
  engine: Engine,
  filter: Omit<ListOptions, 'limit' | 'after'> = {},
): Promise<BriefTask[]> {
  const tasks: BriefTask[] = []
  for await (const task of eachTask(engine, filter)) tasks.push(briefTask(task))
  return tasks
}
