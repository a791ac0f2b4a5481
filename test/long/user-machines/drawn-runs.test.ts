// Machines drawn at random run in engines as they do as actors of XState. A failure prints the seed and the case.
import fc from 'fast-check'
import { beforeEach, describe, it, vi } from 'vitest'
import { replayed, runs } from '../../tier.ts'
import { drawnRuns, noDifference } from '../../user-machines/drawn-runs.ts'

describe('machines drawn at random, in engines', () => {
  beforeEach(() => {
    // XState warns about each event to an actor that has ended, which is one of the cases to compare.
    vi.spyOn(console, 'warn').mockImplementation(() => {})
  })

  it.each([
    ['while nothing dies', 0],
    ['while engines die and others take their place', 1],
    ['in two engines on one ledger, while both die and others take their place', 2],
  ])('run as in XState %s', async (_what, engines) => {
    await fc.assert(noDifference(drawnRuns(engines)), { numRuns: runs(500, 500), ...replayed })
  })
})
