// Shared by the tests of schedules: an engine on a clock that the test moves, and the tasks of ticks.
import type { Engine, EngineOptions } from '../../src/engine/engine-api.ts'
import type { Task } from '../../src/entities/task.ts'
import { SimulatedClock } from '../../src/testing/index.ts'
import { openEngine } from '../engine/world.ts'

/** Midnight in UTC. */
export const start = Date.UTC(2030, 0, 1)

export async function scheduleWorld(options: EngineOptions = {}, startAt = start) {
  const clock = new SimulatedClock(startAt)
  const engine = await openEngine({ clock, executors: { work: async () => 'done' }, ...options })
  return { clock, engine }
}

/** The tasks of a schedule with their ticks, in order of their creation. */
export async function tasksOf(engine: Pick<Engine, 'list'>, name: string): Promise<Array<Task & { tick: string }>> {
  const keyPrefix = `schedule:${name}:`
  const found: Array<Task & { tick: string }> = []
  for (let after: string | undefined; ; ) {
    const page = await engine.list({ keyPrefix, limit: 500, ...(after === undefined ? {} : { after }) })
    for (const task of page.tasks) found.push({ ...task, tick: (task.key as string).slice(keyPrefix.length) })
    if (page.next === null) return found
    after = page.next
  }
}

export async function ticksOf(engine: Pick<Engine, 'list'>, name: string): Promise<string[]> {
  return (await tasksOf(engine, name)).map(({ tick }) => tick)
}

export async function scheduleOf(engine: Pick<Engine, 'schedules'>, name: string) {
  const { schedules } = await engine.schedules.list({})
  const found = schedules.find((each) => each.name === name)
  if (found === undefined) throw new Error(`There is no schedule ${name}`)
  return found
}
