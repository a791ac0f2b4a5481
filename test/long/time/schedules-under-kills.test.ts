// Two engines make the tasks of schedules for two weeks, while one or the other dies at random moments and is opened again: every tick that
// its policy allows is made once.
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ErrandError } from '../../../src/core/errors.ts'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import { overlaps } from '../../../src/entities/schedule.ts'
import { delegateLedger } from '../../../src/ledger/delegate-ledger.ts'
import type { Ledger, Life } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { start, tasksOf } from '../../time/schedule-world.ts'

/** The time between two ticks; each task takes one and a half. */
const period = 4 * 3_600_000
const periods = 14 * 6

/** Numbers from 0 to 1 that follow from a seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

/** An engine that can die: from then on, nothing of it reaches the ledger or the clock. */
async function openMortal(ledger: Ledger, clock: SimulatedClock, dead: Set<string>) {
  let isDead = false
  const died = Promise.withResolvers<boolean>()
  const whileAlive = <R>(work: () => Promise<R>): Promise<R> =>
    isDead ? Promise.reject(new ErrandError('LEDGER_UNAVAILABLE', 'The engine is dead.')) : work()
  const engine = await createEngine({
    ledger: delegateLedger(ledger, {
      step: (step) => whileAlive(() => ledger.step(step)),
      read: (query, reader) => whileAlive(() => ledger.read(query, reader)),
      isAlive: async (id): Promise<Life> => (dead.has(id) ? 'dead' : ledger.isAlive(id)),
    }),
    clock: {
      now: () => clock.now(),
      setTimeout: (fn, ms, isUpkeep) => clock.setTimeout(() => !isDead && fn(), ms, isUpkeep),
      clearTimeout: (id) => clock.clearTimeout(id),
      join: (working) => clock.join({ rest: () => Promise.race([working.rest(), died.promise]) }),
    },
    executors: { work: (_task: ExecutorTask, run: Run) => run.sleep(1.5 * period) },
    onError: () => {},
  })
  const die = (): void => {
    isDead = true
    died.resolve(false)
    dead.add(engine.instanceId)
  }
  return { engine: engine as unknown as Engine, die }
}

it.each([1, 2])('every tick is made once when engines die at random moments, with the seed %i', async (seed) => {
  const random = randomFrom(seed)
  const [clock, dead] = [new SimulatedClock(start), new Set<string>()]
  const ledger = await openLedger(':memory:')
  const open = () => openMortal(ledger, clock, dead)
  const pair = [await open(), await open()]
  const task = { executor: 'work' }
  for (const overlap of overlaps) {
    await pair[0]?.engine.schedules.put({ name: overlap, cron: '0 */4 * * *', overlap, task })
  }
  for (let half = 0; half < 2 * periods; half++) {
    const advanced = clock.advance(period / 2)
    for (let turn = Math.floor(random() * 12); turn > 0; turn--) await setImmediate()
    if (random() < 0.3) {
      const at = Math.floor(random() * 2)
      pair[at]?.die()
      pair[at] = await open()
    }
    await advanced
  }
  const [{ engine }] = pair as [Awaited<ReturnType<typeof open>>]
  const all = Array.from({ length: periods }, (_, at) => new Date(start + (at + 1) * period).toISOString())
  const made = async (name: string) => (await tasksOf(engine, name)).map(({ tick }) => tick)
  expect(await made('allow')).toEqual(all)
  expect(await made('replace')).toEqual(all)
  expect((await tasksOf(engine, 'replace')).slice(0, -1).every(({ status }) => status === 'canceled')).toBe(true)
  for (const name of ['skip', 'queue']) {
    const tasks = await tasksOf(engine, name)
    expect(tasks.length).toBeGreaterThan(periods / 2 - 2)
    for (const [at, next] of tasks.slice(1).entries()) {
      expect(next.createdAt).toBeGreaterThanOrEqual(tasks[at]?.completedAt ?? Number.POSITIVE_INFINITY)
    }
  }
  for (const each of pair) await each.engine.close()
  await ledger.close()
})
