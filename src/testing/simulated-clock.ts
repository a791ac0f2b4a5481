// Time that only a test moves: timers fire when it is advanced past them, in order, and never by themselves.
import type { Clock } from '../core/clock.ts'

interface Timer {
  readonly id: number
  readonly dueAt: number
  readonly fire: () => void
}

/**
 * A clock that stands still until `increment` advances it.
 *
 * @example
 * const clock = new SimulatedClock()
 * const engine = await createEngine({ ledger: ':memory:', clock })
 * clock.advance(60_000) // every timer of the next minute fires now
 */
export class SimulatedClock implements Clock {
  #now: number
  /** The time of timers: it never goes back, whatever the wall clock does. */
  #elapsed = 0
  #drawn = 0
  readonly #timers = new Map<number, Timer>()

  /** `startAt` is in epoch milliseconds. */
  constructor(startAt: number = Date.UTC(2030, 0, 1)) {
    this.#now = startAt
  }

  now(): number {
    return this.#now
  }

  setTimeout(fn: (...args: unknown[]) => void, timeoutMs: number): unknown {
    this.#drawn += 1
    const timer = { id: this.#drawn, dueAt: this.#elapsed + Math.max(0, timeoutMs), fire: fn }
    this.#timers.set(timer.id, timer)
    return timer.id
  }

  clearTimeout(id: unknown): void {
    this.#timers.delete(id as number)
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size
  }

  /** Lets time pass. Timers that fall due fire in order, each at its own time, also those that are set meanwhile. */
  advance(ms: number): void {
    const until = this.#elapsed + ms
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#timers.delete(next.id)
      this.#pass(next.dueAt - this.#elapsed)
      next.fire()
    }
    this.#pass(until - this.#elapsed)
  }

  /** Sets the wall clock, also backwards, as an administrator or NTP would: no time passes and no timer fires. */
  jumpTo(now: number): void {
    this.#now = now
  }

  #pass(ms: number): void {
    this.#elapsed += ms
    this.#now += ms
  }

  #next(until: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers.values()) {
      if (timer.dueAt <= until && (first === undefined || timer.dueAt < first.dueAt)) first = timer
    }
    return first
  }
}
