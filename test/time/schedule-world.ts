// Shared by the tests of schedules: an engine on a clock that the test moves, and the ticks that have made tasks.
import type { Engine, EngineOptions } from '../../src/engine/engine-api.ts'
import { SimulatedClock } from '../../src/testing/index.ts'
import { openEngine } from '../engine/world.ts'

/** Midnight in UTC. */
export const start = Date.UTC(2030, 0, 1)

export async function scheduleWorld(options: EngineOptions = {}, startAt = start) {
  const clock = new SimulatedClock(startAt)
  const engine = await openEngine({ clock, executors: { work: async () => 'done' }, ...options })
  return { clock, engine }
}

/** The ticks of a schedule that have made tasks, in order of their creation. */
export async function ticksOf(engine: Pick<Engine, 'list'>, name: string): Promise<string[]> {
  const prefix = `schedule:${name}:`
  const ticks: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await engine.list({ keyPrefix: prefix, limit: 500, ...(after === undefined ? {} : { after }) })
    for (const { key } of page.tasks) ticks.push((key as string).slice(prefix.length))
    if (page.next === null) return ticks
    after = page.next
  }
}

export async function scheduleOf(engine: Pick<Engine, 'schedules'>, name: string) {
  const { schedules } = await engine.schedules.list({})
  const found = schedules.find((each) => each.name === name)
  if (found === undefined) throw new Error(`There is no schedule ${name}`)
  return found
}
