// The laws as a property: random scripts, each in a world of its own, and the planted faults that they must find.
import fc from 'fast-check'
import { expect } from 'vitest'
import { faults } from './faults.ts'
import { play, scriptArbitrary } from './play.ts'
import { World, type WorldOptions } from './world.ts'

/** Each script in a world of its own. */
export function property(options: () => WorldOptions) {
  return fc.asyncProperty(scriptArbitrary, async (script) => {
    const world = await World.open({ apart: script.apart, ...options() })
    try {
      await play(world, script)
    } finally {
      await world.close()
    }
  })
}

/** Plays scripts with a planted fault, which must be found. */
export async function expectFound(title: string): Promise<void> {
  const { plant, complaint } = faults[title] as (typeof faults)[string]
  const found = await fc.check(
    property(() => ({ plant })),
    { numRuns: 150, endOnFailure: true, seed: 7 },
  )
  expect(found.failed).toBe(true)
  expect(String(found.errorInstance)).toMatch(complaint)
}
