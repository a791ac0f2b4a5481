// A traced task is killed at some of its steps: no span is there twice, and none of what had ended is missing.
import { expect, it } from 'vitest'
import { afterDeaths, type Place } from '../crash/child.ts'
import type { CrashPoints, KillPoint } from '../crash/killing-ledger.ts'
import { finish, play } from './kills.ts'

const points: KillPoint[] = [2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24].flatMap((step) => [
  { step, when: 'before' },
  { step, when: 'after' },
])

it('the spans of all processes of a task that is killed contain each ended call once, and none twice', async () => {
  const complaints: string[] = []
  const { kills, images } = await afterDeaths(points, play, async (place, { step, when }) => {
    for (const complaint of await finish(place)) complaints.push(`${when} step ${step}: ${complaint}`)
  })
  expect(complaints).toEqual([])
  expect(kills + images).toBeGreaterThan(20)
})

it('the checks after kills find spans that end after what they are of is recorded', async () => {
  const complaints: string[] = []
  const playLate = (place: Place, given: CrashPoints) => play(place, { lateSpans: true, ...given })
  await afterDeaths(points.slice(0, 12), playLate, async (place) => {
    complaints.push(...(await finish(place)))
  })
  expect(complaints.join()).toMatch(/has no span/)
})
