// Tasks that rest from their creation on.
import { expect, it } from 'vitest'
import type { Run } from '../../src/entities/executor.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { openEngine } from './world.ts'

it('delayMs lets a task rest from its creation on, on every way in which it is created', async () => {
  const clock = new SimulatedClock(1_000_000)
  const executors = {
    note: () => clock.now() - 1_000_000,
    spawns: (_task: unknown, run: Run) => run.spawn({ executor: 'note', delayMs: 20 }).then(({ id }) => id),
  }
  const engine = await openEngine({ clock, executors })
  const byLibrary = await engine.create({ executor: 'note', delayMs: 10 })
  expect(byLibrary).toMatchObject({ ready: false, notBefore: 1_000_010 })
  const byBus = await engine.bus.call('task:create', { executor: 'note', delayMs: '1h' })
  const group = await engine.create({ name: 'group', tasks: { one: { executor: 'note', delayMs: 30 } } })
  const parent = await engine.create({ executor: 'spawns' })
  await clock.advance('1h')
  const [child] = (await engine.list({ parentId: group.id })).tasks
  const ids = [byLibrary.id, (byBus as { taskId: string }).taskId, child?.id, await engine.result(parent)]
  expect(await Promise.all(ids.map((id) => engine.result(id as string)))).toEqual([10, 3_600_000, 30, 20])
})

it('the later of delayMs and notBefore counts, and a delay of nothing sets no timer', async () => {
  const engine = await openEngine({ clock: new SimulatedClock(1_000_000), executors: { work: () => 'done' } })
  const starts = async (given: { notBefore?: number; delayMs?: number }) =>
    (await engine.create({ executor: 'work', autoStart: false, ...given })).notBefore
  expect(await starts({ notBefore: 1_000_050, delayMs: 60 })).toBe(1_000_060)
  expect(await starts({ notBefore: 1_000_050, delayMs: 40 })).toBe(1_000_050)
  expect(await starts({ delayMs: 0 })).toBeNull()
})
