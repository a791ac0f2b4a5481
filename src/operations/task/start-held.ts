// What `engine.startHeld` does.
import type { Task, TaskRecord } from '../../entities/task.ts'
import type { AbilityHost } from '../ability-host.ts'
import { type Startable, startableTasks, startedAtOnce, startHeld } from '../steps/start-held.ts'
import { viewsOf } from '../steps/views.ts'

/** Starts the tasks of these executors that only `autoStart: false` holds back. Returns their ids, and those of tasks that were ready. */
export async function startHeldTasks(host: AbilityHost, executors: readonly string[]): Promise<string[]> {
  const startable = await host.read((tx) => startableTasks(tx, executors))
  const started = new Set<string>()
  for (const some of piecesOf(startable.filter(({ held }) => held).map(idOf))) {
    for (const id of await host.step(startHeld(some, await host.stepContext()))) started.add(id)
  }
  return startable.filter(({ id, held }) => !held || started.has(id)).map(idOf)
}

/** The tasks with these ids, those that were purged excepted. */
export async function readTasks(host: AbilityHost, ids: readonly string[]): Promise<Task[]> {
  const found: Task[] = []
  for (const some of piecesOf(ids)) {
    const tasks = await host.read(function* (tx) {
      const records: TaskRecord[] = []
      for (const id of some) {
        const record = yield* tx.task.get(id)
        if (record !== undefined) records.push(record)
      }
      return yield* viewsOf(tx, records)
    })
    for (const task of tasks) found.push(task)
  }
  return found
}

const idOf = ({ id }: Startable): string => id

function* piecesOf(ids: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < ids.length; at += startedAtOnce) yield ids.slice(at, at + startedAtOnce)
}
