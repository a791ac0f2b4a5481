// The times of a schedule. Pure: the next one follows from the planned one, never from the clock, so that every engine finds the same times.
import { Cron } from 'croner'
import { ErrandError, nearestName } from '../core/errors.ts'
import { sha256 } from '../core/sha256.ts'
import type { ScheduleRecord } from '../entities/schedule.ts'

export type Times = Pick<ScheduleRecord, 'cron' | 'everyMs' | 'timezone'>

const latestDate = 8.64e15

/** The first planned time after another one; null if there is none. */
export function tickAfter({ cron, everyMs, timezone }: Times, tick: number): number | null {
  if (cron !== null) return new Cron(cron, { timezone }).nextRun(new Date(tick))?.getTime() ?? null
  const next = tick + (everyMs as number)
  return next > latestDate ? null : next
}

/** The latest planned time at `at` or before it, from one that is not after it. */
function latestTick({ cron, everyMs, timezone }: Times, tick: number, at: number): number {
  if (cron === null) return tick + Math.floor((at - tick) / (everyMs as number)) * (everyMs as number)
  // A second later, because times of cron have whole seconds.
  const [latest] = new Cron(cron, { timezone }).previousRuns(1, new Date(Math.floor(at / 1_000) * 1_000 + 1_000))
  return Math.max(tick, latest?.getTime() ?? tick)
}

/** The first planned time after `at`, from one that is planned: a later one, too, because the clock may have been set back. */
export function nextTickAfter(times: Times, tick: number, at: number): number | null {
  return tickAfter(times, times.everyMs === null ? at : latestTick(times, tick, at))
}

/** The planned times from `from` to `to`, in order, at most `most`. */
export function ticksBetween(times: Times, planned: number | null, from: number, to: number, most: number): number[] {
  const found: number[] = []
  for (
    let tick = firstFrom(times, planned, from);
    tick !== null && tick <= to && found.length < most;
    tick = tickAfter(times, tick)
  ) {
    found.push(tick)
  }
  return found
}

function firstFrom(times: Times, planned: number | null, from: number): number | null {
  const { cron, everyMs } = times
  if (cron !== null || everyMs === null || planned === null) return tickAfter(times, from - 1)
  return planned + Math.ceil((from - planned) / everyMs) * everyMs
}

/** When a tick is due: after a part of the jitter that its name decides, and never after the next tick. */
export function dueOf(schedule: Times & Pick<ScheduleRecord, 'name' | 'jitterMs'>, tick: number): number {
  const { name, jitterMs } = schedule
  if (jitterMs === 0) return tick
  const spread = Math.min(jitterMs, (tickAfter(schedule, tick) ?? latestDate) - tick)
  const part = Number.parseInt(sha256(`${name} ${tick}`).slice(0, 12), 16) / 2 ** 48
  return tick + Math.floor(part * spread)
}

/** The latest tick that is due at `at`, from one that is. */
export function latestDue(schedule: Parameters<typeof dueOf>[0], tick: number, at: number): number {
  const latest = latestTick(schedule, tick, at)
  return latest === tick || dueOf(schedule, latest) <= at ? latest : latestTick(schedule, tick, latest - 1)
}

/**
 * The first time after `at`.
 * @throws ErrandError INVALID_INPUT for an expression that cannot be read or names no time that comes, and for an unknown time zone.
 */
export function firstTick(times: Times, at: number): number {
  const { cron, timezone } = times
  if (cron !== null) requireZone(timezone)
  const first = cron === null ? tickAfter(times, at) : readCron(times, cron, at)
  if (first !== null) return first
  throw new ErrandError(
    'INVALID_INPUT',
    `The times "${cron ?? times.everyMs}" never come. Name a day that exists, such as "0 9 L * *" for the last day of each month at 9:00.`,
    { cron },
  )
}

function readCron(times: Times, cron: string, at: number): number | null {
  // It would also read one time as an expression.
  const isExpression = /^@|\s/.test(cron)
  try {
    if (isExpression) return tickAfter(times, at)
  } catch (error) {
    throw unreadable(cron, `: ${(error as Error).message.replace(/^CronPattern: /, '')}`)
  }
  throw unreadable(cron, '')
}

function unreadable(cron: string, why: string): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    `"${cron}" is not a cron expression${why}. It has the fields minute, hour, day of the month, month and day of the week: "0 9 * * 1-5" is 9:00 from Monday to Friday, "*/15 * * * *" every quarter of an hour.`,
    { cron },
  )
}

function requireZone(timezone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {
    const nearest = nearestName(timezone, Intl.supportedValuesOf('timeZone'))
    throw new ErrandError(
      'INVALID_INPUT',
      `The time zone "${timezone}" is not known.${nearest === undefined ? '' : ` Did you mean "${nearest}"?`} Use a name of the IANA database, such as "Europe/Berlin" or "UTC".`,
      { timezone, nearest },
    )
  }
}
