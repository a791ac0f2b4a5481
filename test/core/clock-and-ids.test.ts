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
