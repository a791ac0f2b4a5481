// Parses the values of options: durations and times (`--lease 5m`, `--deadline 2030-01-31T08:00:00Z`), and JSON.
import { durationForms, parseDuration } from '../../core/duration.ts'
import { parseJson } from '../../core/json-text.ts'
import { messageOf } from '../../core/stored-error.ts'
import { parseTime, timeForms } from '../../core/time-text.ts'
import { misuse } from './arguments.ts'

/** Returns milliseconds. @throws ErrandError INVALID_INPUT for anything but a duration with a unit. */
export function durationOption(option: string, text: string): number {
  const durationMs = parseDuration(text)
  if (durationMs !== undefined) return durationMs
  throw misuse(`--${option} takes a duration like ${durationForms}, got "${text}".`, { option, value: text })
}

/** Returns epoch milliseconds, of a time or of a duration from `now`. */
export function timeOption(option: string, text: string, now: number): number {
  const durationMs = parseDuration(text)
  const at = durationMs === undefined ? parseTime(text) : now + durationMs
  if (at !== undefined && at >= 0) return at
  throw misuse(`--${option} takes a time that exists, like ${timeForms}, or a duration like 5m, got "${text}".`, {
    option,
    value: text,
  })
}

/** Returns any JSON value. @throws ErrandError INVALID_INPUT with the example. */
export function jsonOption(option: string, text: string, example: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    throw misuse(`--${option} takes JSON, like '${example}': ${messageOf(error)}.`, { option, value: text })
  }
}

/** The result of a task: the JSON of `--result`, or the positional words as text; undefined without both. */
export function givenResult(json: string | undefined, words: readonly string[]): unknown {
  if (json !== undefined && words.length > 0)
    throw misuse(`The result is given twice: by --result and as "${words.join(' ')}".`)
  if (words.length > 0) return words.join(' ')
  return json === undefined ? undefined : jsonOption('result', json, '{"ok": true}')
}
