// Shared by the tests of team operations: a board on a simulated clock.
import type { Engine, EngineOptions } from '../../../src/engine/engine-api.ts'
import { SimulatedClock } from '../../../src/testing/simulated-clock.ts'
import { openEngine } from '../../engine/world.ts'

export interface Team {
  clock: SimulatedClock
  engine: Engine
  bus: Engine['bus']
}

/** An engine that works, so that it closes leases and fires timers. */
export async function openTeam(options: EngineOptions = {}): Promise<Team> {
  const clock = new SimulatedClock()
  const engine = (await openEngine({ clock, ...options } as EngineOptions)) as unknown as Engine
  return { clock, engine, bus: engine.bus }
}

type NewTask = Parameters<typeof createOne>[1]

async function createOne(
  bus: Engine['bus'],
  input: { subject: string; blockedBy?: number[]; priority?: number; role?: string; tags?: string[]; parent?: number },
) {
  return (await bus.call('board:create', input)).task
}

/** Creates tasks in order; resolves to their numbers. */
export async function createAll(bus: Engine['bus'], ...given: Array<string | NewTask>): Promise<number[]> {
  const numbers: number[] = []
  for (const each of given) {
    numbers.push((await createOne(bus, typeof each === 'string' ? { subject: each } : each)).id)
  }
  return numbers
}
