// The simulated clock and the sequential ids make time, ids and random numbers deterministic.
import { expect, it } from 'vitest'
import { createSequentialIds, SimulatedClock } from '../../src/testing/index.ts'

it('SimulatedClock stands still until it is advanced, and fires timers in order, each at its own time', () => {
  const clock = new SimulatedClock(1_000)
  const fired: string[] = []
  const at = (name: string) => () => fired.push(`${name} ${clock.now()}`)
  clock.setTimeout(at('late'), 30)
  clock.setTimeout(at('first'), 10)
  clock.setTimeout(at('second'), 10)
  clock.setTimeout(() => clock.setTimeout(at('nested'), 5), 10)
  const cleared = clock.setTimeout(at('never'), 5)
  clock.clearTimeout(cleared)
  expect([fired, clock.now(), clock.pending]).toEqual([[], 1_000, 4])
  clock.increment(9)
  expect(fired).toEqual([])
  clock.increment(11)
  expect(fired).toEqual(['first 1010', 'second 1010', 'nested 1015'])
  expect(clock.now()).toBe(1_020)
  clock.increment(1_000)
  expect(fired.at(-1)).toBe('late 1030')
  expect([clock.now(), clock.pending]).toEqual([2_020, 0])
})

it('SimulatedClock.jumpTo fires no timer and moves none', () => {
  const clock = new SimulatedClock(1_000)
  let fired = 0
  clock.setTimeout(() => (fired += 1), 50)
  clock.jumpTo(0)
  expect([clock.now(), fired]).toEqual([0, 0])
  clock.jumpTo(1_000_000)
  clock.increment(49)
  expect(fired).toBe(0)
  clock.increment(1)
  expect([fired, clock.now()]).toEqual([1, 1_000_050])
})

it('createSequentialIds counts ids, and returns the same random numbers for the same seed', () => {
  const [one, same, other] = [createSequentialIds(7), createSequentialIds(7), createSequentialIds(8)]
  expect([one.next('task'), one.next('call'), one.next('task')]).toEqual(['task-1', 'call-2', 'task-3'])
  const draw = (ids: typeof one) => Array.from({ length: 50 }, () => ids.random())
  const drawn = draw(one)
  expect(draw(same)).toEqual(drawn)
  expect(draw(other)).not.toEqual(drawn)
  expect(drawn.every((chance) => chance >= 0 && chance < 1)).toBe(true)
  expect(new Set(drawn).size).toBe(50)
})
