// Starts and ends of tasks over time.
import { expect, it } from 'vitest'
import { SimulatedClock } from '../../src/testing/index.ts'
import { openEngine, refusalOf } from '../engine/world.ts'

it('event:counts counts starts and ends by time, without failures before another attempt and without system tasks', async () => {
  const clock = new SimulatedClock()
  const engine = await openEngine({
    clock,
    executors: {
      plain: () => 'done',
      fails: () => {
        throw new Error('no')
      },
    },
  })
  await engine.create([
    { executor: 'plain' },
    { executor: 'plain' },
    { executor: 'fails', retry: { maxAttempts: 2, backoffMs: 0 }, onFailure: { executor: 'plain' } },
  ])
  const task = await engine.create({ name: 'by hand' })
  await engine.cancel(task)
  await engine.idle({ system: true })
  await clock.advance(60_000)
  await engine.create({ executor: 'plain', delayMs: 5_000 })
  await clock.advance(10_000)
  const { buckets, widthMs } = await engine.bus.call('event:counts', { widthMs: 60_000, buckets: 2 })
  expect(widthMs).toBe(60_000)
  expect(buckets).toEqual([
    { started: 4, completed: 2, failed: 1, canceled: 1, waitMs: expect.any(Number) },
    { started: 1, completed: 1, failed: 0, canceled: 0, waitMs: expect.any(Number) },
  ])
  await refusalOf(engine.bus.call('event:counts', {}, { caller: { surface: 'http', taskId: task.id } }), 'FORBIDDEN')
})
