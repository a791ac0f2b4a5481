// The clock and the ids of production.
import { expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createRandomIds } from '../../src/core/ids.ts'

/** Timers that fire when the test advances them, with the longest delay of those of Node. */
function fakeTimers() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => {
    // Spies on the fake timers first: a spy that is put back later would bring these back.
    vi.restoreAllMocks()
    vi.useRealTimers()
  })
}

const maxDelayMs = 2 ** 31 - 1

it('systemClock fires a delay of any length when the whole of it is over', () => {
  fakeTimers()
  const fired: string[] = []
  systemClock.setTimeout(() => fired.push('longest of one timer'), maxDelayMs)
  systemClock.setTimeout(() => fired.push('long'), maxDelayMs + 1)
  systemClock.setTimeout(() => fired.push('longer'), maxDelayMs * 3)
  const forever = systemClock.setTimeout(() => fired.push('endless'), Number.POSITIVE_INFINITY)
  vi.advanceTimersByTime(maxDelayMs)
  expect(fired).toEqual(['longest of one timer'])
  vi.advanceTimersByTime(1)
  expect(fired).toEqual(['longest of one timer', 'long'])
  vi.advanceTimersByTime(maxDelayMs * 2 - 2)
  expect(fired).toHaveLength(2)
  vi.advanceTimersByTime(1)
  expect(fired).toEqual(['longest of one timer', 'long', 'longer'])
  systemClock.clearTimeout(forever)
  expect(vi.getTimerCount()).toBe(0)
})

it('systemClock clears a long delay before and after a part of it is over', () => {
  fakeTimers()
  const fired = vi.fn()
  const [first, second] = [1, 2].map(() => systemClock.setTimeout(fired, maxDelayMs * 3))
  systemClock.clearTimeout(first)
  vi.advanceTimersByTime(maxDelayMs + 1)
  systemClock.clearTimeout(second)
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(maxDelayMs * 3)
  expect(fired).not.toHaveBeenCalled()
})

it('a long delay of systemClock that must not keep the process alive does not keep it alive later either', () => {
  fakeTimers()
  const armings = vi.spyOn(globalThis, 'setTimeout')
  const timer = systemClock.setTimeout(() => {}, maxDelayMs * 2) as { unref(): void }
  timer.unref()
  vi.advanceTimersByTime(maxDelayMs)
  const armed = armings.mock.results.map(({ value }) => value as NodeJS.Timeout)
  expect(armed).toHaveLength(2)
  expect(armed.map((each) => each.hasRef())).toEqual([false, false])
  systemClock.clearTimeout(timer)
})

it('systemClock fires a delay in the past at once', async () => {
  await new Promise<void>((resolve) => systemClock.setTimeout(() => resolve(), -1_000))
})

it('createRandomIds makes unique ids of a prefix, lower-case letters and digits', () => {
  const ids = createRandomIds()
  const drawn = Array.from({ length: 20_000 }, () => ids.next('task'))
  expect(drawn.every((id) => /^task-[a-z0-9]{13}$/.test(id))).toBe(true)
  expect(new Set(drawn).size).toBe(drawn.length)
  const chances = Array.from({ length: 100 }, () => ids.random())
  expect(chances.every((chance) => chance >= 0 && chance < 1)).toBe(true)
})

it('createRandomIds draws ids in clusters of 64 that begin with the same three letters, so that their rows are neighbours', () => {
  const ids = createRandomIds()
  const beginnings = Array.from({ length: 100 }, () => {
    const cluster = new Set(Array.from({ length: 64 }, () => ids.next('task').slice(0, 'task-abc'.length)))
    expect(cluster.size).toBe(1)
    return [...cluster][0]
  })
  expect(new Set(beginnings).size).toBeGreaterThan(90)
})

it('createRandomIds draws different beginnings in different processes', () => {
  const beginnings = Array.from({ length: 100 }, () => createRandomIds().next('task').slice(0, 'task-abc'.length))
  expect(new Set(beginnings).size).toBeGreaterThan(90)
})
