// A process is killed at every step of its consolidations, and another one finishes them.
import { expect, it } from 'vitest'
import type { KillPoint } from '../../crash/killing-ledger.ts'
import { killConsolidations } from '../../memory/killed-consolidation.ts'

it('after a kill at any step of a consolidation another process finishes it without duplicates or losses', async () => {
  const { points, reached } = await killConsolidations((steps) =>
    Array.from({ length: steps }, (_, at): KillPoint => ({ step: at + 1, when: at % 2 === 0 ? 'before' : 'after' })),
  )
  expect(points).toBeGreaterThan(10)
  expect(reached).toBe(points)
})
