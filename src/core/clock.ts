// Time as a port: the only file that reads the wall clock or arms a timer. XState's SimulatedClock implements it too.

/** Where the engine takes time from. `now` is in epoch milliseconds. */
export interface Clock {
  now(): number
  setTimeout(fn: (...args: unknown[]) => void, timeoutMs: number): unknown
  clearTimeout(id: unknown): void
}

/** Node fires a longer delay after 1 ms, so longer delays are cut to this one. */
export const maxDelayMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (fn, timeoutMs) => setTimeout(fn, Math.min(Math.max(0, timeoutMs), maxDelayMs)),
  clearTimeout: (id) => clearTimeout(id as NodeJS.Timeout),
}

/** For durations: it goes on when the clock of the host is set. Its time is that of the host when the process began, and drifts from there. */
export const steadyClock: Clock = { ...systemClock, now: () => performance.timeOrigin + performance.now() }

/** An ISO 8601 time for messages; the number itself when it is outside the range of a date. */
export function isoTime(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? `${ms} (epoch ms)` : date.toISOString()
}
