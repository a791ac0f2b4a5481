// A release is tested with the time, the answer and the crashes of its life, and takes milliseconds.
import { createTestEngine, expectDurable } from 'errand/testing'
import { expect, it } from 'vitest'
import { release } from './release.ts'

it('publishes when a person agrees, a week and two crashes later', async () => {
  await using test = await createTestEngine({ executors: { release } })
  const task = await test.engine.create({ executor: 'release', input: { version: '1.2.3' } })
  await test.rest()
  await test.crash()
  await test.advance('7d')
  expect(await test.engine.get(task)).toMatchObject({ status: 'input_required', progress: { note: 'built' } })
  await test.crash()
  await test.answer(task, true)
  expect(await test.result(task)).toEqual({ version: '1.2.3', published: true })
  const calls = await test.engine.calls(task)
  expect(calls.map(({ name, status }) => [name, status])).toEqual([
    ['build', 'completed'],
    ['publish', 'completed'],
  ])
})

it('builds and publishes once, wherever it crashes', async () => {
  await expectDurable(release, {
    engine: () => ({ onInterrupt: 'rerun' }),
    input: { version: '1.2.3' },
    play: (test, task) => test.answer(task, true),
  })
})
