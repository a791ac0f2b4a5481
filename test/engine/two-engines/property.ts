// The laws as a property: random sequences in one world after the other, and the planted faults that they must find.
import fc from 'fast-check'
import { expect } from 'vitest'
import { sequenceArbitrary } from './commands.ts'
import { faults } from './faults.ts'
import { play, type Sequence } from './play.ts'
import { World, type WorldOptions } from './world.ts'

/** Sequences in one world after the other: a fresh one every so often, and after each failure. */
export function property(options: () => WorldOptions) {
  let world: World | undefined
  let played = 0
  const discard = async (): Promise<void> => {
    await world?.close()
    world = undefined
  }
  const property = fc.asyncProperty(sequenceArbitrary, async (sequence) => {
    if (played++ % 100 === 0) await discard()
    world ??= await World.open(options())
    try {
      await play(world, sequence)
    } catch (error) {
      await discard()
      throw error
    }
  })
  return { property, discard }
}

/** Plays sequences with a planted fault, which must be found. */
export async function expectFound(title: string): Promise<void> {
  const { fault, complaint, example } = faults[title] as (typeof faults)[string]
  const { property: laws, discard } = property(() => ({ fault }))
  const examples: Array<[Sequence]> = example === undefined ? [] : [[example]]
  const found = await fc.check(laws, { numRuns: 2_000, endOnFailure: true, seed: 5, examples })
  await discard()
  expect(found.failed).toBe(true)
  expect(String(found.errorInstance)).toMatch(complaint)
}
