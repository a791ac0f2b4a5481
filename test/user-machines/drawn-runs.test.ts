// Machines drawn at random run in an engine as they do as actors of XState, whatever dies. test/long draws anew each time, and more.
import fc from 'fast-check'
import { beforeEach, describe, it, vi } from 'vitest'
import { drawnRuns, noDifference } from './drawn-runs.ts'

const seed = 20_302

describe('machines drawn at random, in engines', () => {
  beforeEach(() => {
    vi.spyOn(console, 'warn').mockImplementation(() => {})
  })

  it('run as in XState while nothing dies', async () => {
    await fc.assert(noDifference(drawnRuns(0)), { seed, numRuns: 40 })
  })

  it('run as in XState while engines die and others take their place', async () => {
    await fc.assert(noDifference(drawnRuns(1)), { seed, numRuns: 25 })
  })

  it('run as in XState in two engines on one ledger, while both die and others take their place', async () => {
    await fc.assert(noDifference(drawnRuns(2)), { seed, numRuns: 20 })
  })
})
