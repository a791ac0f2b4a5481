// Durations as written in a plan (`90s`, `5m`) and as shown in the terminal. A number without a unit is refused: 90 may mean
// seconds or milliseconds, and a wrong guess kills a command that did nothing wrong.

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
/** What a text with a duration looks like. */
export const durationPattern = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/

/** A duration as an option takes it: a number of milliseconds, or a text with a unit, like `10m`. */
export type Duration = number | `${number}${keyof typeof unitsMs}`

/** The accepted forms, for messages. */
export const durationForms = '"1500ms", "90s", "5m", "2h" or "1d"'

/** The last moment that a date can be: as a duration, longer than any wait. */
export const maxDurationMs = 8.64e15

/** Whole milliseconds, rounded up, or undefined when the text is not a duration with a unit, from one millisecond to the longest. */
export function parseDuration(text: string): number | undefined {
  const match = durationPattern.exec(text.trim())
  if (match === null) return undefined
  const exactMs = Number(match[1]) * unitsMs[match[2] as keyof typeof unitsMs]
  // A product like 66000.00000000001 is 66000.
  const durationMs = Math.ceil(Number(exactMs.toFixed(3)))
  return durationMs > 0 && durationMs <= maxDurationMs ? durationMs : undefined
}

/** `0.2s`, `12.3s`, `4m05s`, `3h02m` or `2d03h`: short enough for a table column. */
export function formatDuration(durationMs: number): string {
  const totalSeconds = Math.max(0, durationMs) / 1_000
  if (totalSeconds < 59.95) return `${totalSeconds.toFixed(1)}s`
  const seconds = Math.round(totalSeconds)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m${twoDigits(seconds % 60)}s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours}h${twoDigits(minutes % 60)}m`
  return `${Math.floor(hours / 24)}d${twoDigits(hours % 24)}h`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
