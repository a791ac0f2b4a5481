// The schema of every duration from outside, and what the engine keeps of it: whole milliseconds within the range of a date.
import { z } from 'zod'
import { maxDurationMs } from './duration.ts'

/** A number of milliseconds. A fraction is rounded up, so that nothing ends earlier than asked for; then the bounds hold. */
export function durationSchema({ min = 0, max = maxDurationMs }: { min?: number; max?: number } = {}): z.ZodNumber {
  return z.number().overwrite(wholeMs).min(min).max(max)
}

/** Negative numbers stay what they are, for the message of their refusal. */
function wholeMs(ms: number): number {
  return ms > 0 ? Math.ceil(ms) : ms
}
