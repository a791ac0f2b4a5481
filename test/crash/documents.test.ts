// Twenty documents, two calls each, killed in the middle: identity by kind, name and params holds across real deaths, with calls
// that end in another order than they began and runs that ask in another order than the last. Five at once in another order is a
// list that changes between runs: the divergence guard takes that from calls marked rerun, and from others when all are in flight.
import { expect, it } from 'vitest'
import { createOne, createPlace, drawSeed, effectsOf, openEngine, randomOf, startEngine } from './child.ts'
import { violations } from './invariants.ts'

const documents = Array.from({ length: 20 }, (_, index) => `doc${index}`)
const wanted = Object.fromEntries(documents.map((name) => [name, `sum of text of ${name}`]))

it.each([
  ['rerun', 5, { onInterrupt: 'rerun' }],
  ['fail, with attempts left', 20, { onInterrupt: 'fail', retry: { maxAttempts: 8 } }],
])(
  'No document ever gets the result of another when its engine is killed in the middle (%s)',
  async (_policy, atOnce, policy) => {
    const random = randomOf(drawSeed('documents'))
    for (let round = 1; round <= 4; round++) {
      const place = createPlace()
      const task = { executor: 'documents', key: 'documents', input: { count: 20, atOnce }, ...policy }
      let killed = 0
      for (let death = 1; death <= 2; death++) {
        const child = startEngine(place, { create: [task], leave: 'settled' })
        const enough = effectsOf(place).length + 1 + Math.floor(random() * 18)
        await child
          .heard(() => effectsOf(place).length >= enough || child.lines.some((line) => 'steps' in line))
          .catch(() => {})
        if ((await child.kill()).signal === 'SIGKILL') killed++
      }
      expect(killed).toBeGreaterThan(0)
      const engine = await openEngine(place)
      const created = await createOne(engine, task)
      expect(await engine.result(created, { timeoutMs: 10_000 })).toEqual(wanted)
      await engine.idle()
      await engine.close()
      expect(violations(place)).toEqual([])
      // What completed is not executed again: each effect beyond the forty has a failed call beside it.
      const names = new Set(effectsOf(place).map((effect) => effect.name))
      expect(names.size).toBe(40)
    }
  },
)
