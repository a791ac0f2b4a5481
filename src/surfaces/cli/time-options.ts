// Times and durations as options: `--lease 5m`, `--deadline 2030-01-31T08:00:00Z`.
import { systemClock } from '../../clock.ts'
import { misuse } from './arguments.ts'
import { durationForms, parseDuration } from './duration.ts'

/** Milliseconds. @throws ErrandError INVALID_INPUT for what is no duration with a unit. */
export function durationOption(option: string, text: string): number {
  const durationMs = parseDuration(text)
  if (durationMs !== undefined) return durationMs
  throw misuse(`--${option} takes a duration like ${durationForms}, got "${text}".`, { option, value: text })
}

/** Epoch milliseconds: of a time, or of a duration from now. */
export function timeOption(option: string, text: string): number {
  const durationMs = parseDuration(text)
  const at = durationMs === undefined ? Date.parse(text) : systemClock.now() + durationMs
  if (Number.isFinite(at) && !isBareNumber(text)) return at
  throw misuse(`--${option} takes a time like 2030-01-31T08:00:00Z, or a duration like 5m, got "${text}".`, {
    option,
    value: text,
  })
}

/** A date to `Date.parse`, and a duration without its unit to whoever wrote it. */
function isBareNumber(text: string): boolean {
  return /^[\d.]+$/.test(text.trim())
}
