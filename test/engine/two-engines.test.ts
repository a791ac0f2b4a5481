// Two engines over one ledger, driven at random: commands, actions of executors, owners, time, hangs, crashes, restarts
// and limits interleave, and the laws of the design are checked inside every step and whenever the engines come to
// rest. Planted faults show that the laws detect them. A failure prints its seed and path; ERRAND_SEED and ERRAND_PATH
// run it again, ERRAND_RUNS sets the number of runs.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { violationsIn } from '../ledger/check/violations-in.ts'
import { passTime, sequenceArbitrary } from './two-engines/commands.ts'
import { faults } from './two-engines/faults.ts'
import { play, type Sequence } from './two-engines/play.ts'
import { leaseMs, turns, World, type WorldOptions } from './two-engines/world.ts'
import { ledgerFile } from './world.ts'

/** Nine times as many as the planted fault that is the last to be found needs. Each run draws others. */
const sequences = Number(process.env.ERRAND_RUNS ?? 2_000)

const replayed = {
  ...(process.env.ERRAND_SEED === undefined ? {} : { seed: Number(process.env.ERRAND_SEED) }),
  ...(process.env.ERRAND_PATH === undefined ? {} : { path: process.env.ERRAND_PATH, endOnFailure: true }),
}

/** Sequences in one world after the other: a fresh one every so often, and after each failure. */
function property(options: () => WorldOptions) {
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

describe('two engines on one ledger', () => {
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
  }, 120_000)

  it('two engines on one ledger give a task that returns to the engine that hung on it one slot, when its old executor has ended', async () => {
    const world = await World.open()
    const [busy, hanging] = world.hosts
    const runsOf = (task: { id: string }) =>
      world.puppets.filter((each) => each.taskId === task.id).map((each) => each.run.number)
    const { engine } = hanging
    busy.hang()
    const task = await world.create(hanging, { stubborn: true })
    busy.wake()
    await busy.engine?.setLimits({ maxConcurrent: 1 })
    await turns(3)
    hanging.hang()
    await world.create(busy, { stubborn: false })
    await passTime(world, 2 * leaseMs)
    expect(world.audit.rows.get(task.id)).toMatchObject({ status: 'waiting', statusReason: 'interrupted', run: 1 })
    hanging.wake()
    await turns(5)
    expect(world.audit.rows.get(task.id)).toMatchObject({ status: 'working', run: 2 })
    expect(runsOf(task)).toEqual([1])
    await passTime(world, 100)
    expect(runsOf(task)).toEqual([1, 2])
    const other = await world.create(hanging, { stubborn: false })
    await turns(5)
    expect(runsOf(other)).toEqual([1])
    expect(engine?.status.get().context.slots).toEqual({ used: 2, free: 0, maxConcurrent: 2 })
    expect(world.audit.broken).toEqual([])
    await world.close()
  })

  it.each(Object.keys(faults))('the sequences of two engines detect a planted fault: %s', async (title) => {
    const { fault, complaint, example } = faults[title] as (typeof faults)[string]
    const { property: laws, discard } = property(() => ({ fault }))
    const examples: Array<[Sequence]> = example === undefined ? [] : [[example]]
    const found = await fc.check(laws, { numRuns: 2_000, endOnFailure: true, seed: 5, examples })
    await discard()
    expect(found.failed).toBe(true)
    expect(String(found.errorInstance)).toMatch(complaint)
  })
})
