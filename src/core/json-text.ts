// JSON text from outside: request bodies, tools, options, files. `JSON.parse` rounds integers that a number cannot hold, and the lost
// digits would go unnoticed; such a text is refused.

import { ErrandError } from './errors.ts'
import { startOf } from './storable-text.ts'

/** Only such a text can hold a number that loses digits. */
const longNumber = /\d{16}|\d[eE]/

/**
 * The value of a JSON text.
 * @throws SyntaxError for a text that is not JSON; ErrandError INVALID_INPUT for a number that cannot be stored exactly.
 */
export function parseJson(text: string): unknown {
  return longNumber.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text)
}

/** Refuses integers that JavaScript would round, because their digits would be lost; accepts those that JavaScript itself writes. */
function exactNumber(_key: string, value: unknown, { source = '' }: { source?: string } = {}): unknown {
  if (typeof value !== 'number' || isExact(value, source)) return value
  throw new ErrandError(
    'INVALID_INPUT',
    `it has a number that cannot be stored exactly (${startOf(source, 40)}); write it as text`,
    {},
  )
}

/** Whether the number that JavaScript reads from its text has lost no digits of an integer, and is finite. */
export function isExact(value: number, source: string): boolean {
  const isRounded =
    /^[-+]?\d+$/.test(source) && String(value) !== source && BigInt(source.replace('+', '')) !== BigInt(value)
  return Number.isFinite(value) && !isRounded
}
