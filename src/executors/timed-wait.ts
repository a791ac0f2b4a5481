// Waiting for a while on the Clock port: for processes that are not our children, which nobody announces the end of, and for
// output that may or may not still come.
import type { Clock } from '../clock.ts'

/** Resolves after so many milliseconds. */
export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.setTimeout(() => resolve(), ms))
}

/** True when the promise resolves within so many milliseconds. No timer stays behind. */
export async function resolvesWithin(clock: Clock, ms: number, promise: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = clock.setTimeout(() => late.resolve(false), ms)
  try {
    return await Promise.race([promise.then(() => true), late.promise])
  } finally {
    clock.clearTimeout(timer)
  }
}
