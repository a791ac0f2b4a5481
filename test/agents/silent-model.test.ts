// A model that sends nothing any more: its stream counts as broken after a time, and until then `why` says since when it has been asked.
import { expect, it } from 'vitest'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { collect, openEngine } from '../engine/world.ts'
import { finish, partsModel, text } from './world.ts'

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
  clock.advance(100_000)
  await engine.send(task, 'Hello?', { delivery: 'followup' })
  expect((await engine.why(task)).message).toContain('Its model was asked at 1970-01-01T00:16:40.000Z')
  clock.advance(19_999)
  expect((await engine.get(task.id))?.status).toBe('working')
  clock.advance(1)
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
