// Twenty documents with two calls each, killed during the run: calls are identified by kind, name and params across kills, although they end in
// another order than they began and each run requests them in another order. With five at once the list changes between runs: the divergence
// guard accepts that for calls marked rerun, and for others if all are in flight.
import { expect, it } from 'vitest'
import { createOne, createPlace, drawSeed, effectsOf, openEngine, randomOf, startEngine } from '../../crash/child.ts'
import { violations } from '../../crash/invariants.ts'

const documents = Array.from({ length: 20 }, (_, index) => `doc${index}`)
const wanted = Object.fromEntries(documents.map((name) => [name, `sum of text of ${name}`]))

it.each([
  ['rerun', 5, { onInterrupt: 'rerun' }],
  ['fail, with attempts left', 20, { onInterrupt: 'fail', retry: { maxAttempts: 8 } }],
])(
  'every document gets its own result when its engine is killed twice during the run (onInterrupt: %s)',
  async (_policy, atOnce, policy) => {
    const random = randomOf(drawSeed('documents'))
    for (let round = 1; round <= 4; round++) {
      const place = createPlace()
      const task = { executor: 'documents', key: 'documents', input: { count: 20, atOnce }, ...policy }
      let killed = 0
      for (let kill = 1; kill <= 2; kill++) {
        const child = startEngine(place, { create: [task], leave: 'settled' })
        const enough = effectsOf(place).length + 1 + Math.floor(random() * 18)
        await child
          .lineWhere(() => effectsOf(place).length >= enough || child.lines.some((line) => 'steps' in line))
          .catch(() => {})
        if ((await child.kill()).signal === 'SIGKILL') killed++
      }
      expect(killed).toBeGreaterThan(0)
      const engine = await openEngine(place)
      const created = await createOne(engine, task)
      expect(await engine.result(created, { timeoutMs: 10_000 })).toEqual(wanted)
      await engine.idle()
      await engine.close()
      expect(await violations(place)).toEqual([])
      // Completed calls are not executed again: each effect beyond the forty has a failed call.
      const names = new Set(effectsOf(place).map((effect) => effect.name))
      expect(names.size).toBe(40)
    }
  },
)
