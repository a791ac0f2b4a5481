// The times of schedules: the days in spring and autumn, intervals, and jitter.
import { expect, it } from 'vitest'
import { dueOf, latestDue, type Times, tickAfter, ticksBetween } from '../../src/time/schedule-ticks.ts'

const begin = Date.UTC(2026, 0, 1)
const day = 24 * 3_600_000
const daily = (cron: string, timezone: string): Times => ({ cron, everyMs: null, timezone })

it('02:30 in Berlin is 03:00 on the day in spring, and the first 02:30 on the day in autumn', () => {
  const times = daily('30 2 * * *', 'Europe/Berlin')
  const from = (date: string) => new Date(tickAfter(times, Date.parse(date)) as number).toISOString()
  expect(from('2026-03-29T00:00Z')).toBe('2026-03-29T01:00:00.000Z')
  expect(from('2026-03-29T01:00Z')).toBe('2026-03-30T00:30:00.000Z')
  expect(from('2026-10-24T23:00Z')).toBe('2026-10-25T00:30:00.000Z')
  expect(from('2026-10-25T00:30Z')).toBe('2026-10-26T01:30:00.000Z')
})

it('an interval counts the time that has passed, through both changes', () => {
  const times: Times = { cron: null, everyMs: 7_200_000, timezone: 'UTC' }
  const ticks = ticksBetween(times, begin, begin, begin + 300 * day, Number.POSITIVE_INFINITY)
  expect(new Set(ticks.slice(1).map((tick, at) => tick - (ticks[at] as number)))).toEqual(new Set([7_200_000]))
  expect(ticksBetween(times, begin, begin - 7_200_001, begin, 9)).toEqual([begin - 7_200_000, begin])
})

it('a tick is due after its jitter and before the next one, the same for each engine', () => {
  const times = { ...daily('0 * * * *', 'UTC'), name: 'x', jitterMs: day }
  const ticks = ticksBetween(times, null, begin, begin + 9 * day, 200)
  const dues = ticks.map((tick) => dueOf(times, tick))
  expect(dues.every((due, at) => due >= (ticks[at] as number) && due < (ticks[at] as number) + 3_600_000)).toBe(true)
  expect(dueOf({ ...times }, ticks[0] as number)).toBe(dues[0])
  for (const [at, due] of dues.entries()) expect(latestDue(times, ticks[0] as number, due)).toBe(ticks[at])
})
