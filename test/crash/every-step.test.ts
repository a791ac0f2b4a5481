// A task is killed at some of its steps, and completed by the next process. test/long kills it at all of them.
import { expect, it } from 'vitest'
import { afterDeaths, type Place } from './child.ts'
import { finish, play } from './every-step.ts'
import { violations } from './invariants.ts'
import type { CrashPoints } from './killing-ledger.ts'

it('S0-106 a task that is killed at some of its steps is completed by the next process, with nothing lost or silently repeated', async () => {
  const points = [4, 9, 13].map((step) => ({ step, when: 'after' as const }))
  const { kills, images } = await afterDeaths(points, play, async (place, { step }) => {
    await finish(place)
    expect(await violations(place), `died after step ${step}`).toEqual([])
  })
  expect(kills + images).toBe(points.length)
})

it('the checks after kills find an engine that executes a call before it records it', async () => {
  const complaints: string[] = []
  // The first point is the only kill, and nothing has happened there yet: the fault is found in the images.
  const deaths = [1, 4, 5, 6, 7, 8, 9].map((step) => ({ step, when: 'before' as const }))
  const playFaulty = (place: Place, points: CrashPoints) => play(place, { executeFirst: true, ...points })
  await afterDeaths(deaths, playFaulty, async (place) => {
    complaints.push(...(await violations(place, { resting: false })))
  })
  expect(complaints.join()).toContain('was executed without a record')
})
