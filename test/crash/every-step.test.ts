// Deaths at every step: before or after each transaction of a task that uses every method of a run a process is killed, or its files are
// copied; then another process continues. Nothing is lost, silently repeated or stuck.
import { describe, expect, it } from 'vitest'
import {
  afterDeaths,
  createOne,
  createPlace,
  drawSeed,
  effectsOf,
  openEngine,
  type Place,
  startEngine,
} from './child.ts'
import { violations } from './invariants.ts'
import type { CrashPoints } from './killing-ledger.ts'

const task = { executor: 'everyStep', key: 'everyStep', retry: { maxAttempts: 3 } }

/** The number of steps of a process that is not killed. */
async function stepsOfACleanRun(): Promise<number> {
  const place = createPlace()
  const child = startEngine(place, { create: [task], leave: 'settled' })
  const { steps } = await child.lineWhere((line) => 'steps' in line)
  expect(await child.exited).toEqual({ code: 0, signal: null })
  expect(await violations(place)).toEqual([])
  return steps as number
}

async function finish(place: Place): Promise<void> {
  const engine = await openEngine(place)
  const created = await createOne(engine, task)
  const result = await engine.result(created, { timeoutMs: 10_000 })
  expect(result).toEqual([true, 'so', `two of ${created.id}`])
  await engine.idle()
  await engine.close()
}

describe('Kills at every step', () => {
  it('S0-106 a task that is killed before or after any step is completed by the next process, with nothing lost or silently repeated', async () => {
    const steps = await stepsOfACleanRun()
    // Before or after each step: the seed decides which, so that repeated runs of the suite cover both.
    const parity = drawSeed('killed at every step') % 2
    const points = Array.from({ length: steps }, (_, index) => ({
      step: index + 1,
      when: index % 2 === parity ? ('before' as const) : ('after' as const),
    }))
    const play = (place: Place, points: CrashPoints) =>
      startEngine(place, { create: [task], leave: 'settled', ...points }).exited
    let doubles = 0
    const { kills, images } = await afterDeaths(points, play, async (place, { step, when }) => {
      await finish(place)
      expect(await violations(place), `died ${when} step ${step}`).toEqual([])
      doubles += effectsOf(place).length - 3
    })
    console.log(
      `${kills} kills and ${images} images at ${steps} steps; ${doubles} calls were executed again, each beside a failed one`,
    )
    // On a slow machine a run has more steps (heartbeats) or fewer (several events in one), and may end before the last point.
    expect(kills + images).toBeGreaterThan(points.length * 0.75)
  })

  it('the checks after kills find an engine that executes a call before it records it', async () => {
    const complaints: string[] = []
    // The first point is the only kill, and nothing has happened there yet: the fault is found in the images.
    const deaths = [1, 4, 5, 6, 7, 8, 9].map((step) => ({ step, when: 'before' as const }))
    const play = (place: Place, points: CrashPoints) =>
      startEngine(place, { create: [task], leave: 'settled', executeFirst: true, ...points }).exited
    await afterDeaths(deaths, play, async (place) => {
      complaints.push(...(await violations(place, { resting: false })))
    })
    expect(complaints.join()).toContain('was executed without a record')
  })
})
