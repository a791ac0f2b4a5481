// The three laws in random sequences, and a planted fault for each. A failure prints its seed and path; ERRAND_SEED and ERRAND_PATH run it again,
// ERRAND_RUNS sets the number of sequences.
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { replayed, runs } from '../tier.ts'
import { findingOf, openWorld, plantedFaults, property, type World } from './random-commands.ts'

/** In the long tests eight times as many as the planted fault that is the last to be found needs. Each run draws others. */
const sequences = runs(200, 4_000)

const worlds: { current?: World | undefined } = {}

afterAll(() => worlds.current?.engine.close())

it('X-039 X-038 S3-039 S3-053 random sequences of commands never leave the transition table, exceed a limit or lose an acknowledged command', async () => {
  await fc.assert(property(openWorld, worlds), { numRuns: sequences, verbose: 1, ...replayed })
})

it.each(Object.keys(plantedFaults) as Array<keyof typeof plantedFaults>)(
  'X-039 random sequences of commands detect a planted fault: %s',
  async (fault) => {
    expect(await findingOf(fault)).toMatch(plantedFaults[fault].complaint)
  },
)
