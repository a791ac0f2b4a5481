// The schemas of every duration and time from outside, and what the engine keeps of them: whole milliseconds within the range of a date.

import { z } from 'zod'
import { type Duration, durationForms, durationPattern, maxDurationMs, parseDuration } from './duration.ts'
import { startOf } from './storable-text.ts'
import { typeName } from './type-name.ts'

interface Bounds {
  min?: number
  max?: number
}

interface Wording {
  /** The message about what is no number. Default: that of every schema. */
  notNumber?: (given: unknown) => string
}

/** A number of milliseconds. A fraction is rounded up, so that nothing ends earlier than asked for; then the bounds hold. */
export function millisecondsSchema({ min = 0, max = maxDurationMs, notNumber }: Bounds & Wording = {}): z.ZodNumber {
  const error: z.core.$ZodErrorMap = ({ code, input }) => (code === 'invalid_type' ? notNumber?.(input) : undefined)
  return z.number({ error }).overwrite(wholeMs).min(min).max(max)
}

/** A number of milliseconds, or a text like `10m`, which becomes one. The bounds hold for both. */
export function durationSchema(bounds: Bounds = {}): z.ZodType<number, Duration> {
  const milliseconds = millisecondsSchema(bounds)
  const text = z
    .string()
    .meta({
      pattern: durationPattern.source,
      description: `A duration with a unit, longer than zero and within the bounds of the number: ${durationForms}.`,
    })
    .transform((given, context) => {
      const durationMs = parseDuration(given)
      if (durationMs !== undefined) return durationMs
      context.addIssue({ code: 'custom', message: noDuration(given) })
      return z.NEVER
    })
    .pipe(milliseconds)
  return z.union([milliseconds, text], { error: ({ input }) => noDuration(input) }) as unknown as z.ZodType<
    number,
    Duration
  >
}

function noDuration(given: unknown): string {
  const got =
    typeof given === 'string' ? JSON.stringify(startOf(given, 60)) : typeof given === 'number' ? given : typeName(given)
  return `expected milliseconds or a duration like ${durationForms}, got ${got}`
}

/** Negative numbers stay what they are, for the message of their refusal. */
function wholeMs(ms: number): number {
  return ms > 0 ? Math.ceil(ms) : ms
}
