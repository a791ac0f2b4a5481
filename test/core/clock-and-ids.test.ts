// The clock and the ids of production.
import { expect, it, onTestFinished } from 'vitest'
import { maxDelayMs, systemClock } from '../../src/core/clock.ts'
import { createRandomIds } from '../../src/core/ids.ts'

it('systemClock does not fire a delay that is too long for a timer at once', async () => {
  let fired = false
  const timer = systemClock.setTimeout(() => (fired = true), maxDelayMs * 2)
  onTestFinished(() => systemClock.clearTimeout(timer))
  // Node turns a delay that is too long into one of 1 ms: a timer of 5 ms, set later, would come after it.
  await new Promise<void>((resolve) => systemClock.setTimeout(() => resolve(), 5))
  expect(fired).toBe(false)
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
