// Nothing is lost: programs that sleep, wait, ask and call run on two engines that start and stop, while disks are full
// and reads fail, and nothing but the engines themselves ever wakes a task. Planted faults show that the laws detect
// them. A failure prints its seed and path; ERRAND_SEED and ERRAND_PATH run it again, ERRAND_RUNS sets how many scripts
// are played.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { violationsIn } from '../ledger/check/violations-in.ts'
import { faults } from './level-triggered/faults.ts'
import { play, scriptArbitrary } from './level-triggered/play.ts'
import { World, type WorldOptions } from './level-triggered/world.ts'
import { ledgerFile } from './world.ts'

const scripts = Number(process.env.ERRAND_RUNS ?? 200)

const replayed = {
  ...(process.env.ERRAND_SEED === undefined ? {} : { seed: Number(process.env.ERRAND_SEED) }),
  ...(process.env.ERRAND_PATH === undefined ? {} : { path: process.env.ERRAND_PATH, endOnFailure: true }),
}

/** Each script in a world of its own. */
function property(options: () => WorldOptions) {
  return fc.asyncProperty(scriptArbitrary, async (script) => {
    const world = await World.open({ apart: script.apart, ...options() })
    try {
      await play(world, script)
    } finally {
      await world.close()
    }
  })
}

describe('two engines that start and stop on a failing ledger', () => {
  it('two engines that start and stop on a failing ledger lose nothing, publish only what is durable, and do nothing twice', async () => {
    await fc.assert(
      property(() => ({})),
      { numRuns: scripts, ...replayed },
    )
  }, 400_000)

  it('two engines that start and stop on a failing ledger keep these laws on a file too, each on a connection of its own', async () => {
    const file = ledgerFile()
    let opened = 0
    const laws = property(() => ({ file: `${file}-${opened++}` }))
    await fc.assert(laws, { numRuns: Math.ceil(scripts / 10), ...replayed })
    for (let at = 0; at < opened; at++) expect(await violationsIn(`${file}-${at}`)).toEqual([])
  }, 120_000)

  it.each(Object.keys(faults))('the search detects a planted fault: %s', async (title) => {
    const { plant, complaint } = faults[title] as (typeof faults)[string]
    const found = await fc.check(
      property(() => ({ plant })),
      { numRuns: 150, endOnFailure: true, seed: 7 },
    )
    expect(found.failed).toBe(true)
    expect(String(found.errorInstance)).toMatch(complaint)
  })
})
