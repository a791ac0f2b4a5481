// `run.engine`: an executor uses the engine that runs it, and a wait for a task below its own keeps no slot.
import { expect, it } from 'vitest'
import type { Run } from '../../src/entities/executor.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { turns } from '../engine/world.ts'
import { createWorld, gate } from './world.ts'

it('an executor uses its engine through its run, which records nothing of it', async () => {
  const work = async (_task: unknown, run: Run) => {
    const other = await run.engine.create({ name: 'beside' })
    return [(await run.engine.list()).total, (await run.engine.get(other))?.name]
  }
  const { engine, ledger } = await createWorld(work)
  const task = await engine.create({ executor: 'work' })
  expect(await engine.result(task)).toEqual([2, 'beside'])
  expect(await ledger.read((tx) => tx.call.list(task.id))).toEqual([])
})

it('a call uses the engine too', async () => {
  const work = async (_task: unknown, run: Run) => run.call('count', async () => (await run.engine.list()).total)
  const { engine } = await createWorld(work)
  expect(await engine.result(await engine.create({ executor: 'work' }))).toBe(1)
})

for (const [way, settled] of [
  ['run.engine.result', (run: Run, id: string) => run.engine.result(id)],
  ['the result of the engine in a variable', (_run: Run, id: string) => world?.engine.result(id)],
  [
    'run.engine.settled',
    async (run: Run, id: string) => ((await run.engine.settled(id)) as { result: unknown }).result,
  ],
] as const) {
  it(`an executor in the only slot awaits its child by ${way}`, async () => {
    const work = async (_task: unknown, run: Run) => {
      const child = await run.spawn({ executor: 'other' })
      return settled(run, child.id)
    }
    world = await createWorld(work, { maxConcurrent: 1 })
    const task = await world.engine.create({ executor: 'work' })
    expect(await world.engine.result(task)).toBe('other')
    const events = await world.ledger.read((tx) => tx.event.after(0, 99, task.id))
    expect(events.map(({ type }) => type)).toContain('run.parked')
  })
}
let world: Awaited<ReturnType<typeof createWorld>> | undefined

it('such a wait times out as engine.result does, and one for a task elsewhere keeps the slot', async () => {
  const clock = new SimulatedClock()
  const work = async (_task: unknown, run: Run) => {
    const child = await run.spawn({ name: 'by hand' })
    const late = await run.engine.result(child, { timeoutMs: 1_000 }).catch(({ code }) => code as string)
    const elsewhere = await run.engine.create({ name: 'elsewhere' })
    begun.resolve()
    return [late, await run.engine.settled(elsewhere, { timeoutMs: 1_000 }).catch(({ code }) => code as string)]
  }
  const begun = gate()
  const { engine, eventOf } = await createWorld(work, { clock })
  const task = await engine.create({ executor: 'work' })
  await eventOf(task.id, 'run.parked')
  clock.increment(1_000)
  await begun.promise
  expect(engine.status.get().context.running).toMatchObject([{ parked: false }])
  // The wait begins after a read.
  const result = engine.result(task)
  for (let isOver = false; !isOver; clock.increment(1_000)) {
    isOver = await Promise.race([result.then(() => true), turns(1).then(() => false)])
  }
  expect(await result).toEqual(['TIMEOUT', 'TIMEOUT'])
})

it('an executor may leave such a wait behind, which goes on after its run', async () => {
  const childMayEnd = gate()
  const left = gate<unknown>()
  const work = async (_task: unknown, run: Run) => {
    const child = await run.spawn({ executor: 'other' })
    void run.engine.result(child).then(left.resolve, left.reject)
    return 'first'
  }
  const other = () => childMayEnd.promise.then(() => 'later')
  const { engine } = await createWorld(work as never, { executors: { work, other } } as never)
  expect(await engine.result(await engine.create({ executor: 'work' }))).toBe('first')
  childMayEnd.resolve()
  expect(await left.promise).toBe('later')
})
