// Deaths at every step: before or after each transaction of a task that uses every method of a run a process is killed, or its files are
// copied; then another process continues. Nothing is lost, silently repeated or stuck.
import { describe, expect, it } from 'vitest'
import { afterDeaths, drawSeed, effectsOf } from '../../crash/child.ts'
import { finish, play, stepsOfACleanRun } from '../../crash/every-step.ts'
import { violations } from '../../crash/invariants.ts'

describe('Kills at every step', () => {
  it('S0-106 a task that is killed before or after any step is completed by the next process, with nothing lost or silently repeated', async () => {
    const steps = await stepsOfACleanRun()
    // Before or after each step: the seed decides which, so that repeated runs of the suite cover both.
    const parity = drawSeed('killed at every step') % 2
    const points = Array.from({ length: steps }, (_, index) => ({
      step: index + 1,
      when: index % 2 === parity ? ('before' as const) : ('after' as const),
    }))
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
})
