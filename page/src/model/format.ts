// Short formats for times, durations and counts.

import { startOf } from '../../../src/core/storable-text.ts'
import type { Usage } from '../../../src/entities/message.ts'

const units: ReadonlyArray<[ms: number, letter: string]> = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
]

/** `340ms`, `12s`, `3m 20s`, `2d 4h`: the two largest units. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`
  const first = units.findIndex(([size]) => ms >= size)
  const [size, letter] = units[first] as [number, string]
  const whole = Math.floor(ms / size)
  const next = units[first + 1]
  const rest = next === undefined ? 0 : Math.floor((ms % size) / next[0])
  return rest === 0 ? `${whole}${letter}` : `${whole}${letter} ${rest}${next?.[1]}`
}

/** The largest unit only, for columns that need a rough duration. */
export function age(ms: number): string {
  return ms < 1_000 ? 'now' : (duration(ms).split(' ')[0] as string)
}

/** Time since the start with the precision that the distance of the ticks requires: `+1.5s`. */
export function sinceStart(ms: number, step: number): string {
  if (ms <= 0) return '0'
  return step < 1_000 && ms >= 1_000 ? `+${(ms / 1_000).toFixed(step < 100 ? 2 : 1)}s` : `+${duration(ms)}`
}

/** `1 run`, `3 runs`. */
export function counted(count: number, word: string): string {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`
}

/** `36 tokens in, 24 out`; empty if the provider reports none. */
export function tokensText({ inputTokens, outputTokens }: Pick<Usage, 'inputTokens' | 'outputTokens'>): string {
  if (inputTokens === null && outputTokens === null) return ''
  const number = (count: number | null) => count?.toLocaleString('en') ?? '?'
  return `${number(inputTokens)} tokens in, ${number(outputTokens)} out`
}

const pad = (value: number, digits = 2) => String(value).padStart(digits, '0')

/** `14:03:07`, in the local time zone. */
export function clockTime(at: number, withMs = false): string {
  const date = new Date(at)
  const text = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
  return withMs ? `${text}.${pad(date.getMilliseconds(), 3)}` : text
}

/** `2026-11-22 14:03:07`. */
export function dateTime(at: number): string {
  const date = new Date(at)
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${clockTime(at)}`
}

/** A text of at most `max` characters, which ends with `…` if it is cut. */
export function clipped(text: string, max: number): string {
  return text.length <= max ? text : `${startOf(text, Math.max(1, max - 1))}…`
}
