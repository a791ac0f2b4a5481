// Nothing is lost: programs that sleep, wait, ask and call run on two engines that start and stop, while disks are full
// and reads fail, and nothing but the engines themselves ever wakes a task. Planted faults show that the laws detect
// them. A failure prints its seed and path; ERRAND_SEED and ERRAND_PATH run it again, ERRAND_RUNS sets how many scripts
// are played.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { faults } from '../../engine/level-triggered/faults.ts'
import { expectFound, property } from '../../engine/level-triggered/property.ts'
import { ledgerFile } from '../../engine/world.ts'
import { violationsIn } from '../../ledger/check/violations-in.ts'
import { replayed, runs } from '../../tier.ts'

const scripts = runs(200, 200)

it('two engines that start and stop on a failing ledger lose nothing, publish only what is durable, and do nothing twice', async () => {
  const laws = property(() => ({}))
  await fc.assert(laws, { numRuns: scripts, ...replayed })
}, 400_000)

it('two engines that start and stop on a failing ledger keep these laws on a file too, each on a connection of its own', async () => {
  const file = ledgerFile()
  let opened = 0
  const laws = property(() => ({ file: `${file}-${opened++}` }))
  await fc.assert(laws, { numRuns: Math.ceil(scripts / 10), ...replayed })
  for (let at = 0; at < opened; at++) expect(await violationsIn(`${file}-${at}`)).toEqual([])
})

it.each(Object.keys(faults))('the search detects a planted fault: %s', expectFound)
