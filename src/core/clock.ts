// Time as a port: the only file that reads the wall clock or arms a timer. XState's SimulatedClock implements it too.
import { ErrandError } from './errors.ts'

/** Where the engine takes time from. `now` is in epoch milliseconds. */
export interface Clock {
  now(): number
  /** `isUpkeep`: nothing waits for the function, so it may be called late, once for all the times that it has missed. */
  setTimeout(fn: (...args: unknown[]) => void, timeoutMs: number, isUpkeep?: boolean): unknown
  clearTimeout(id: unknown): void
  /** Only of a clock that stands still until it is moved: it does not move while an engine that has joined works. Returns how to leave. */
  join?(engine: RestingEngine): () => void
  /** Only of such a clock: resolves when nothing goes on in the engines that have joined until it is moved, or something comes from outside. */
  rest?(): Promise<void>
}

/** An engine, for a clock that stands still. */
export interface RestingEngine {
  /** Resolves when nothing goes on in it: to whether something has been done until then. */
  rest(): Promise<boolean>
}

/** Node fires a longer delay after 1 ms. */
export const maxDelayMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (fn, timeoutMs) =>
    timeoutMs > maxDelayMs ? new LongTimer(fn, timeoutMs) : setTimeout(fn, Math.max(0, timeoutMs)),
  clearTimeout: (id) => (id instanceof LongTimer ? id.clear() : clearTimeout(id as NodeJS.Timeout)),
}

/** A delay that is too long for one timer of Node: a chain of them. */
class LongTimer {
  readonly #fire: () => void
  #leftMs: number
  #keepsAlive = true
  #timer: NodeJS.Timeout | undefined

  constructor(fire: () => void, delayMs: number) {
    this.#fire = fire
    this.#leftMs = delayMs
    this.#arm()
  }

  clear(): void {
    clearTimeout(this.#timer)
  }

  /** The wait does not keep the process alive, like that of a timer of Node. */
  unref(): void {
    this.#keepsAlive = false
    this.#timer?.unref()
  }

  #arm(): void {
    const delayMs = Math.min(this.#leftMs, maxDelayMs)
    this.#leftMs -= delayMs
    this.#timer = setTimeout(() => (this.#leftMs > 0 ? this.#arm() : this.#fire()), delayMs)
    if (!this.#keepsAlive) this.#timer.unref()
  }
}

/** For durations: it goes on when the clock of the host is set. Its time is that of the host when the process began, and drifts from there. */
export const steadyClock: Clock = { ...systemClock, now: () => performance.timeOrigin + performance.now() }

/** An ISO 8601 time for messages; the number itself when it is outside the range of a date. */
export function isoTime(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? `${ms} (epoch ms)` : date.toISOString()
}

/**
 * Refuses timers that a test has faked, for an engine on the clock of the process. Faked time passes at once: it does not wait for an engine that
 * has to write what fell due before it knows what falls due next.
 * @throws ErrandError INVALID_INPUT
 */
export function requireRealTimers(): void {
  // The packages behind `vi.useFakeTimers` and `jest.useFakeTimers` leave their clock on the functions that they put in place.
  if (![setTimeout, Date].some((real) => Object.hasOwn(real, 'clock'))) return
  throw new ErrandError(
    'INVALID_INPUT',
    'createEngine: the timers of this process are faked, and faked time does not wait for the writes of an engine. Use createTestEngine of errand/testing, whose `advance` does, or createEngine with `clock: new SimulatedClock()`; both work beside faked timers.',
    { option: 'clock' },
  )
}
