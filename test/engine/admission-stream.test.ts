// Admission under a steady stream of creations, on a ledger that is always behind: each admission runs when a later one has been queued.
import { expect, it, onTestFinished } from 'vitest'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { openEngine } from './world.ts'

it('a steady stream of creations does not keep an engine from starting tasks', async () => {
  const inner = await openLedger(':memory:')
  let release = () => {}
  let isBehind = true
  const ledger = delegateLedger(inner, {
    async step(step) {
      if (step.name !== 'admit' || !isBehind) return inner.step(step)
      release()
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return inner.step(step)
    },
  })
  onTestFinished(() => inner.close())
  let started = 0
  const engine = await openEngine({ ledger, executors: { count: () => ++started }, maxConcurrent: 1_000 })
  for (let n = 0; n < 200; n++) await engine.create({ executor: 'count' })
  expect(started).toBeGreaterThan(0)
  isBehind = false
  release()
})
