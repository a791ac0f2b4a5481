// Times as plans and options write them.
import { expect, it, vi } from 'vitest'
import { parseTime } from '../../src/core/time-text.ts'

it.each([
  ['2027-02-28T08:00:00Z', '2027-02-28T08:00:00.000Z'],
  ['2028-02-29T08:00Z', '2028-02-29T08:00:00.000Z'],
  ['2027-02-28 08:00:00.25+02:00', '2027-02-28T06:00:00.250Z'],
  ['2027-01-01T00:30:00.123456-0130', '2027-01-01T02:00:00.123Z'],
  ['2027-06-30', '2027-06-29T22:00:00.000Z'],
  ['2027-06-30T08:00', '2027-06-30T06:00:00.000Z'],
  [' 2027-12-31 23:59:59 ', '2027-12-31T22:59:59.000Z'],
])('parseTime reads %s, local without a zone', (text, expected) => {
  vi.stubEnv('TZ', 'Europe/Berlin')
  try {
    expect(new Date(parseTime(text) ?? Number.NaN).toISOString()).toBe(expected)
  } finally {
    vi.unstubAllEnvs()
  }
})

it.each([
  ['2027-02-30', 'a day that does not exist'],
  ['2027-02-29T08:00:00Z', 'a leap day of another year'],
  ['2027-04-31T08:00', 'a day that does not exist'],
  ['2027-13-01', 'a month that does not exist'],
  ['2027-00-10', 'a month that does not exist'],
  ['2027-01-01T24:00', 'an hour that does not exist'],
  ['2027-01-01T08:60Z', 'a minute that does not exist'],
  ['2027-01-01T08:00+25:00', 'a zone that does not exist'],
  ['2027-03-28T02:30', 'an hour that summer time leaves out'],
  ['2027', 'a number'],
  ['1893456000000', 'a number'],
  ['2027-01', 'a month'],
  ['January 31, 2027', 'another form'],
  ['2027/01/31', 'another form'],
  ['soon', 'a word'],
  ['', 'nothing'],
])('parseTime refuses "%s": %s', (text) => {
  vi.stubEnv('TZ', 'Europe/Berlin')
  try {
    expect(parseTime(text)).toBeUndefined()
  } finally {
    vi.unstubAllEnvs()
  }
})
