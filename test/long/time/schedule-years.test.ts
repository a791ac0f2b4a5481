// The times of schedules over ten years in five zones: in spring an hour is missing, in autumn one comes twice.
import { describe, expect, it } from 'vitest'
import { latestDue, nextTickAfter, type Times, ticksBetween } from '../../../src/time/schedule-ticks.ts'

const [begin, end] = [Date.UTC(2026, 0, 1), Date.UTC(2036, 0, 1)]
/** Southern, half an hour off, a change at midnight, and none at all. */
const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Havana', 'Asia/Kolkata']
const day = 24 * 3_600_000

const daily = (cron: string, timezone: string): Times => ({ cron, everyMs: null, timezone })
const all = (times: Times) => ticksBetween(times, null, begin, end - 1, Number.POSITIVE_INFINITY)

function localDates(ticks: readonly number[], timeZone: string): string[] {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  return ticks.map((tick) => format.format(tick))
}

describe('over ten years', () => {
  it.each(zones)('a daily time comes once on each day, also on the days of the changes: %s', (zone) => {
    for (const cron of ['30 2 * * *', '0 0 * * *', '15 1 * * *', '0 3 * * *']) {
      const dates = localDates(all(daily(cron, zone)), zone)
      expect(new Set(dates).size).toBe(dates.length)
      expect(Math.abs(dates.length - (end - begin) / day)).toBeLessThanOrEqual(1)
    }
  })

  it.each(zones)('what comes every quarter of an hour goes through the changes: %s', (zone) => {
    const times = daily('*/15 * * * *', zone)
    const year = ticksBetween(times, null, begin, begin + 366 * day, Number.POSITIVE_INFINITY)
    const gaps = new Set(year.slice(1).map((tick, at) => tick - (year[at] as number)))
    expect([...gaps]).toEqual([900_000])
  })

  it.each(zones)('the latest time is found from any moment: %s', (zone) => {
    const times = { ...daily('30 2 * * *', zone), name: 'x', jitterMs: 0 }
    const ticks = all(times)
    for (const [at, tick] of ticks.entries()) {
      const next = ticks[at + 1]
      if (next === undefined) break
      for (const moment of [tick, tick + 1, next - 1]) {
        expect(latestDue(times, ticks[0] as number, moment)).toBe(tick)
        expect(nextTickAfter(times, ticks[0] as number, moment)).toBe(next)
      }
    }
  })
})
