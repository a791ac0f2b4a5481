// Time that only a test moves: timers fire when it is moved past them, in order, and never by themselves.
import type { Clock, RestingEngine } from '../core/clock.ts'
import type { Duration } from '../core/duration.ts'
import { durationSchema } from '../core/duration-schema.ts'
import { parse } from '../core/parse.ts'
import { nextTurn } from '../core/turns.ts'

interface Timer {
  readonly id: number
  readonly dueAt: number
  readonly isUpkeep: boolean
  readonly fire: () => void
}

/**
 * A clock that stands still until a test moves it. While the engines on it work, `advance` waits, so a test needs no waits of its own.
 *
 * @example
 * const clock = new SimulatedClock()
 * const engine = await createEngine({ executors, clock })
 * const task = await engine.create({ executor: 'daily' })
 * await clock.advance('1d') // the task has slept for a day, and everything that follows from it has been done
 */
export class SimulatedClock implements Clock {
  #now: number
  /** The time of timers: it never goes back, whatever the wall clock does. */
  #elapsed = 0
  #drawn = 0
  readonly #timers = new Map<number, Timer>()
  readonly #engines = new Set<RestingEngine>()
  /** The end of the advances so far. */
  #advanced: Promise<void> = Promise.resolve()

  /** `startAt` is in epoch milliseconds. */
  constructor(startAt: number = Date.UTC(2030, 0, 1)) {
    this.#now = startAt
  }

  now(): number {
    return this.#now
  }

  setTimeout(fn: (...args: unknown[]) => void, timeoutMs: number, isUpkeep = false): unknown {
    this.#drawn += 1
    // Whole milliseconds, as of every other clock: a delay with jitter is a fraction.
    const dueAt = this.#elapsed + Math.ceil(Math.max(0, timeoutMs))
    const timer = { id: this.#drawn, dueAt, isUpkeep, fire: fn }
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

  /** Milliseconds until something falls due; undefined: nothing does but upkeep. */
  get untilNext(): number | undefined {
    const next = this.#next(Number.POSITIVE_INFINITY, false)
    return next === undefined ? undefined : Math.max(0, next.dueAt - this.#elapsed)
  }

  /** Called by an engine that uses the clock. */
  join(engine: RestingEngine): () => void {
    this.#engines.add(engine)
    return () => this.#engines.delete(engine)
  }

  /**
   * Resolves when the engines on this clock rest: nothing goes on in them until the clock is moved or something comes from outside. A run whose
   * function waits for something else than its engine does not rest.
   */
  async rest(): Promise<void> {
    await nextTurn()
    for (let isMoving = true; isMoving; ) {
      isMoving = false
      for (const engine of this.#engines) if (await engine.rest()) isMoving = true
    }
  }

  /**
   * Waits until the engines rest, and lets time pass: what falls due is done at its own time, in order, also what follows from it within
   * this time. Resolves when the engines rest again. What an engine does only for its upkeep, such as the renewal of its lease, is done when
   * the clock stops for something else or at the end. Advances that are not awaited follow each other.
   *
   * A function that never settles is waited for too: to see its time limit, use `increment`.
   */
  async advance(duration: Duration): Promise<void> {
    const ms = parse(durationSchema(), duration, 'advance')
    const advance = this.#advanced.then(() => this.#advance(ms))
    this.#advanced = advance.catch(() => {})
    return advance
  }

  /** Lets time pass at once, whatever goes on: timers fire in order, each at its own time, also those that a timer sets. */
  increment(ms: number): void {
    const until = this.#elapsed + ms
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#pass(next.dueAt - this.#elapsed)
      this.#fire(next)
    }
    this.#pass(until - this.#elapsed)
  }

  /** Sets the wall clock, also backwards, as an administrator or NTP would: no time passes and no timer fires. */
  jumpTo(now: number): void {
    this.#now = now
  }

  async #advance(ms: number): Promise<void> {
    await this.rest()
    const until = this.#elapsed + ms
    for (let isOver = false; !isOver; ) {
      const stop = this.#next(until, false)
      isOver = stop === undefined
      this.#pass((stop?.dueAt ?? until) - this.#elapsed)
      for (let due = this.#next(this.#elapsed); due !== undefined; due = this.#next(this.#elapsed)) this.#fire(due)
      await this.rest()
    }
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer.id)
    timer.fire()
  }

  #pass(ms: number): void {
    this.#elapsed += ms
    this.#now += ms
  }

  /** The first timer that is due by then. */
  #next(until: number, withUpkeep = true): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers.values()) {
      if (timer.isUpkeep && !withUpkeep) continue
      if (timer.dueAt <= until && (first === undefined || timer.dueAt < first.dueAt)) first = timer
    }
    return first
  }
}
