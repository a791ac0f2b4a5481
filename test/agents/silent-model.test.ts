// A model that sends nothing any more: its stream counts as broken after a time, and until then `why` says since when it has been asked.
import { expect, it } from 'vitest'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { collect, deferred, openEngine } from '../engine/world.ts'
import { finish, gatedTool, partsModel, reasoning, text, toolCall } from './world.ts'

it('why says for how long a model has been asked, and how long ago the latest piece of its answer came', async () => {
  const clock = new SimulatedClock(1_000_000)
  const [first, second, never] = [deferred(), deferred(), deferred()]
  const asked = deferred()
  const { doStream, ...model } = partsModel(
    [first.promise, reasoning('Hm.'), text('Half of'), second.promise, toolCall('a', 'test_hold', {}), finish()],
    [never.promise],
  )
  const held = gatedTool('test:hold')
  const engine = await openEngine({
    clock,
    abilities: [held.ability],
    model: {
      ...model,
      doStream(options) {
        asked.resolve()
        return doStream(options)
      },
    },
  })
  const task = await engine.create({ goal: 'Talk' })
  const why = async () => (await engine.why(task)).message
  await asked.promise
  clock.increment(100_000)
  expect(await why()).toMatch(/has not ended its answer after 1m40s\.$/)
  const stream = engine.stream(task)
  first.resolve()
  for await (const item of stream) if (item.type === 'content') break
  clock.increment(30_000)
  expect(await why()).toMatch(
    /has not ended its answer after 2m10s\. The latest text, reasoning or call of it came 30\.0s ago\.$/,
  )
  second.resolve()
  const call = await held.began(0)
  expect(await why()).not.toContain('Its model')
  call.end('held')
})

it('a stream without a part for modelIdleTimeoutMs counts as broken, and the step is tried again', async () => {
  const clock = new SimulatedClock(1_000_000)
  const model = partsModel(
    [text('Half of'), new Promise(() => {})],
    [text('Whole.'), finish()],
    [text('Whole.'), finish()],
  )
  const engine = await openEngine({ clock, model, modelIdleTimeoutMs: '2m', modelRetry: { backoffMs: 0 } })
  const task = await engine.create({ goal: 'Talk' })
  for await (const item of engine.stream(task)) if (item.type === 'content') break
  expect((await engine.why(task)).message).toContain(
    'Its model was asked at 1970-01-01T00:16:40.000Z and has not ended',
  )
  clock.increment(100_000)
  await engine.send(task, 'Hello?', { delivery: 'followup' })
  expect((await engine.why(task)).message).toContain('Its model was asked at 1970-01-01T00:16:40.000Z')
  clock.increment(19_999)
  expect((await engine.get(task.id))?.status).toBe('working')
  clock.increment(1)
  expect(await engine.result(task)).toBe('Whole.')
  const [failed] = (await collect(engine.events({ taskId: task.id, follow: false }))).filter(
    ({ type }) => type === 'model.failed',
  )
  expect(failed?.data).toMatchObject({
    error: {
      code: 'protocol',
      message: expect.stringContaining('the model has sent nothing for 2m00s (modelIdleTimeoutMs)'),
    },
  })
})
