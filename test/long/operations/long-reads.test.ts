// Searches that once blocked the process for up to 19 seconds. `npm run bench -- blocking` measures for how long they do.
import { expect, it } from 'vitest'
import { taskRow } from '../../ledger/factories.ts'
import { engineWith } from '../../operations/engine-with-rows.ts'

it('V-07 a long word is found in long goals that contain it, and not in those that nearly do', async () => {
  const goal = 'a'.repeat(1024 * 1024)
  const engine = await engineWith(Array.from({ length: 10 }, (_, n) => taskRow({ id: `task-${n}`, goal })))
  expect((await engine.bus.call('task:list', { text: `${'a'.repeat(489)}b` })).total).toBe(0)
  expect((await engine.bus.call('task:list', { text: 'a'.repeat(490) })).total).toBe(10)
})

it('V-07 many words are found in the tasks that contain all of them', async () => {
  const words = Array.from({ length: 160 }, (_, n) => `w${n % 100}`)
  const goal = `${words.join(' ')} ${'x'.repeat(2_000)}`
  const engine = await engineWith(
    (function* () {
      for (let n = 0; n < 5_000; n++) yield taskRow({ id: `task-${n}`, goal: n % 100 === 0 ? goal : 'something else' })
    })(),
  )
  expect((await engine.bus.call('task:list', { text: words.slice(0, 100).join(' '), limit: 10 })).total).toBe(50)
})
