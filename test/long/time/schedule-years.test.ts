// The times of schedules over ten years in five zones: in spring an hour is missing, in autumn one comes twice. To find a time costs about a
// tenth of a millisecond, so what comes often, and what is looked up from every moment, is tried around the changes and in between at samples.
import { describe, expect, it } from 'vitest'
import { latestDue, nextTickAfter, type Times, ticksBetween } from '../../../src/time/schedule-ticks.ts'
import { scheduleWorld, ticksOf } from '../../time/schedule-world.ts'

const hour = 3_600_000
const day = 24 * hour
const [begin, end] = [Date.UTC(2026, 0, 1), Date.UTC(2036, 0, 1)]
const days = Array.from({ length: (end - begin) / day }, (_, at) => begin + at * day)
/** Southern and half an hour off, a change at midnight, and none at all. */
const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Havana', 'Asia/Kolkata']

const daily = (cron: string, timezone: string): Times => ({ cron, everyMs: null, timezone })
const all = (times: Times, from = begin, to = end - 1) => ticksBetween(times, null, from, to, Number.POSITIVE_INFINITY)

function localDates(ticks: readonly number[], timeZone: string): string[] {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  return ticks.map((tick) => format.format(tick))
}

/** The days within which the clocks change. */
function changesIn(timeZone: string): number[] {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  const offsetAt = (at: number) => format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value
  return days.filter((at) => offsetAt(at) !== offsetAt(at + day))
}

/** The days of the changes with those beside them, and the first day of each quarter of a year. */
function triedDays(timeZone: string): number[] {
  const beside = changesIn(timeZone).flatMap((at) => [at - day, at, at + day])
  const quarters = Array.from({ length: 40 }, (_, at) => Date.UTC(2026, 3 * at, 1))
  return [...new Set([...beside, ...quarters])]
    .filter((at) => at >= begin && at < end)
    .sort((one, other) => one - other)
}

describe('over ten years', () => {
  it.each([...zones.slice(0, -1).map((zone) => [zone, 20] as const), ['Asia/Kolkata', 0] as const])(
    'the clocks of the tests change as often as they do: %s',
    (zone, changes) => {
      expect(changesIn(zone)).toHaveLength(changes)
    },
  )

  it.each(zones)('a daily time comes once on each day, also on the days of the changes: %s', (zone) => {
    for (const cron of ['30 2 * * *', '0 0 * * *', '15 1 * * *', '0 3 * * *']) {
      const dates = localDates(all(daily(cron, zone)), zone)
      expect(new Set(dates).size).toBe(dates.length)
      expect(Math.abs(dates.length - days.length)).toBeLessThanOrEqual(1)
    }
  })

  it.each(zones)('what comes every quarter of an hour goes through the changes: %s', (zone) => {
    const times = daily('*/15 * * * *', zone)
    for (const at of triedDays(zone)) {
      expect(all(times, at, at + day)).toEqual(Array.from({ length: 97 }, (_, nth) => at + nth * 900_000))
    }
  })

  it.each(zones)('the latest time is found from any moment: %s', (zone) => {
    const times = { ...daily('30 2 * * *', zone), name: 'x', jitterMs: 0 }
    const [first] = all(times, begin, begin + day) as [number]
    for (const at of triedDays(zone).slice(1)) {
      const [tick, next] = all(times, at, at + 2 * day) as [number, number]
      for (const moment of [tick, tick + 1, next - 1]) {
        expect(latestDue(times, first, moment)).toBe(tick)
        expect(nextTickAfter(times, first, moment)).toBe(next)
      }
    }
  })
})

it.each(zones)('an engine makes the tasks of the days of the changes at their times: %s', async (zone) => {
  const times = {
    early: daily('30 2 * * *', zone),
    midnight: daily('0 0 * * *', zone),
    half: daily('*/30 * * * *', zone),
  }
  for (const change of [...changesIn(zone).slice(0, 2), begin].slice(0, 2)) {
    const { clock, engine } = await scheduleWorld({}, change - 3 * hour)
    for (const [name, { cron, timezone }] of Object.entries(times)) {
      await engine.schedules.put({ name, cron: cron as string, timezone, task: { executor: 'work' } })
    }
    await clock.advance('30h')
    for (const [name, own] of Object.entries(times)) {
      const expected = all(own, change - 3 * hour + 1, change + 27 * hour)
      expect(await ticksOf(engine, name)).toEqual(expected.map((tick) => new Date(tick).toISOString()))
    }
    await engine.close()
  }
})
