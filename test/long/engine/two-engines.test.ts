// Two engines over one ledger, driven at random: commands, actions of executors, owners, time, hangs, crashes, restarts
// and limits interleave, and the laws of the design are checked inside every step and whenever the engines come to
// rest. Planted faults show that the laws detect them. A failure prints its seed and path; ERRAND_SEED and ERRAND_PATH
// run it again, ERRAND_RUNS sets the number of runs.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { faults } from '../../engine/two-engines/faults.ts'
import { expectFound, property } from '../../engine/two-engines/property.ts'
import { ledgerFile } from '../../engine/world.ts'
import { violationsIn } from '../../ledger/check/violations-in.ts'
import { replayed, runs } from '../../tier.ts'

/** Nine times as many as the planted fault that is the last to be found needs. Each run draws others. */
const sequences = runs(2_000, 2_000)

it('X-039 two engines on one ledger keep the laws under any commands and faults', async () => {
  const { property: laws, discard } = property(() => ({}))
  await fc.assert(laws, { numRuns: sequences, verbose: 1, ...replayed })
  await discard()
}, 900_000)

it('two engines on one ledger keep the laws on a file too, each on a connection of its own', async () => {
  const file = ledgerFile()
  let opened = 0
  const { property: laws, discard } = property(() => ({ file: `${file}-${opened++}` }))
  await fc.assert(laws, { numRuns: Math.ceil(sequences / 20), verbose: 1, ...replayed })
  await discard()
  for (let at = 0; at < opened; at++) expect(await violationsIn(`${file}-${at}`)).toEqual([])
})

it.each(Object.keys(faults))('the sequences of two engines detect a planted fault: %s', expectFound)
