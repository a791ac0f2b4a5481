// Time and chance as they are in production.
import { expect, it, onTestFinished } from 'vitest'
import { maxDelayMs, systemClock } from '../../src/core/clock.ts'
import { createRandomIds } from '../../src/core/ids.ts'

it('a delay longer than a timer can hold does not fire at once', async () => {
  let fired = false
  const timer = systemClock.setTimeout(() => (fired = true), maxDelayMs * 2)
  onTestFinished(() => systemClock.clearTimeout(timer))
  // Node turns a delay that is too long into one of 1 ms: a timer of 5 ms, set later, would come after it.
  await new Promise<void>((resolve) => systemClock.setTimeout(() => resolve(), 5))
  expect(fired).toBe(false)
})

it('a delay in the past fires at once', async () => {
  await new Promise<void>((resolve) => systemClock.setTimeout(() => resolve(), -1_000))
})

it('ids are lower-case letters and digits behind their prefix, and never the same twice', () => {
  const ids = createRandomIds()
  const drawn = Array.from({ length: 20_000 }, () => ids.next('task'))
  expect(drawn.every((id) => /^task-[a-z0-9]{13}$/.test(id))).toBe(true)
  expect(new Set(drawn).size).toBe(drawn.length)
  const chances = Array.from({ length: 100 }, () => ids.random())
  expect(chances.every((chance) => chance >= 0 && chance < 1)).toBe(true)
})
