// Durations, as plans write them and as the terminal shows them.
import { expect, it } from 'vitest'
import { formatDuration, parseDuration } from '../../src/core/duration.ts'

it.each(['90', '', 's', '-5s', '0s', '5 minutes', '1h30m', '1e3s', 'NaNs', '100000001d'])(
  'parseDuration returns undefined for "%s"',
  (text) => {
    expect(parseDuration(text)).toBeUndefined()
  },
)

it.each([
  ['1500ms', 1_500],
  ['1.2ms', 2],
  ['1.1m', 66_000],
  ['0.07h', 252_000],
])('parseDuration rounds %s up to whole milliseconds, so that nothing ends earlier', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

it.each([
  [0, '0.0s'],
  [234, '0.2s'],
  [59_949, '59.9s'],
  [59_951, '1m00s'],
  [245_000, '4m05s'],
  [3_599_600, '1h00m'],
  [10_920_000, '3h02m'],
  [183_600_000, '2d03h'],
  [-5, '0.0s'],
])('formatDuration shows %i ms as %s', (durationMs, text) => {
  expect(formatDuration(durationMs)).toBe(text)
})
