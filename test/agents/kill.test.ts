// An agent is killed at some writes of its ledger, and continues in the next process. test/long kills it at one of each kind.
import { expect, it } from 'vitest'
import { afterDeaths, createPlace, type Place, twoAtATime } from '../crash/child.ts'
import type { CrashPoints, KillPoint } from '../crash/killing-ledger.ts'
import { goOn, overlooksCalls, play } from './killed-agent.ts'

it('S0-106 S0-026 S0-100 S0-101 an agent whose process is killed continues in the next process, and repeats no tool', async () => {
  const points = [5, 8, 10, 14].map((step): KillPoint => ({ step, when: 'after' }))
  const { kills, images } = await afterDeaths(points, play, async (place, { step }) => {
    expect((await goOn(place)).complaints, `died after step ${step}`).toEqual([])
  })
  expect(kills + images).toBe(points.length)
})

it('the harness detects a tool that is repeated and must not be', async () => {
  const found: string[] = []
  // The first point is the only kill, and nothing has happened there yet: the fault is found in the images.
  const deaths = [1, 6, 7, 8, 9, 10, 11].map((step): KillPoint => ({ step, when: 'before' }))
  const playCarelessly = (place: Place, points: CrashPoints) => play(place, { ...points, careless: true })
  await afterDeaths(deaths, playCarelessly, async (place) => {
    found.push(...(await goOn(place, { careless: true })).complaints)
  })
  expect(found.join()).toMatch(/(one|two|three) was done 2 times/)
})

it('the harness detects a recovery that misses the calls in progress', async () => {
  const found: string[] = []
  const deaths = [9, 10, 11].map((step): KillPoint => ({ step, when: 'before' }))
  await twoAtATime(deaths, async (death) => {
    const place = createPlace()
    await play(place, { death })
    found.push(...(await goOn(place, { wrap: overlooksCalls })).complaints)
  })
  expect(found.join()).toMatch(/(one|two|three) was done 2 times/)
})
