import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, it } from 'vitest'
import { taskRow } from '../../../src/testing/index.ts'
import { engineWith } from '../../abilities/engine-with-rows.ts'

/** The longest time in milliseconds for which the event loop was blocked. */
async function maxBlockMs(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await work()
  // The second turn of the event loop begins with its timers, which include the measurement of the first.
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resume) => setImmediate(resume))
  delay.disable()
  return delay.max / 1e6
}

/** Far above the duration on a busy machine, and far below the 19 seconds that it once took. */
const tooLongMs = 1_000

it('V-07 a search for a long word in long goals does not block the process', async () => {
  const goal = 'a'.repeat(1024 * 1024)
  const engine = await engineWith(Array.from({ length: 10 }, (_, n) => taskRow({ id: `task-${n}`, goal })))
  const text = `${'a'.repeat(489)}b`
  let total: unknown
  const block = await maxBlockMs(async () => {
    ;({ total } = await engine.bus.call('task:list', { text }))
  })
  expect(total).toBe(0)
  expect(block).toBeLessThan(tooLongMs)
  expect((await engine.bus.call('task:list', { text: 'a'.repeat(490) })).total).toBe(10)
})

it('V-07 a search for many words in many tasks does not block the process', async () => {
  const words = Array.from({ length: 160 }, (_, n) => `w${n % 100}`)
  const goal = `${words.join(' ')} ${'x'.repeat(2_000)}`
  const engine = await engineWith(
    (function* () {
      for (let n = 0; n < 5_000; n++) yield taskRow({ id: `task-${n}`, goal: n % 100 === 0 ? goal : 'something else' })
    })(),
  )
  const block = await maxBlockMs(async () => {
    expect((await engine.bus.call('task:list', { text: words.slice(0, 100).join(' '), limit: 10 })).total).toBe(50)
  })
  expect(block).toBeLessThan(tooLongMs)
})
