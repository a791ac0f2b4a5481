// Waiting that an AbortSignal may end. Listeners leave with the waiting: a signal may live as long as an engine.
import type { Clock } from './clock.ts'

/** The outcome of some work, unless the signal aborts first. @throws the signal's reason. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Resolves after so many milliseconds, or as soon as the signal aborts. */
export function rest(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (ms <= 0 || signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      clock.clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.setTimeout(end, ms)
    signal?.addEventListener('abort', end, { once: true })
  })
}

/**
 * Resolves when the work is done, or after so many milliseconds: to whether it was done by then. No timer stays behind, and a later
 * failure is ignored. @throws what the work threw in time.
 */
export async function waitAtMost(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = clock.setTimeout(() => late.resolve(false), ms)
  try {
    return await Promise.race([work.then(() => true), late.promise])
  } finally {
    clock.clearTimeout(timer)
  }
}
