// The image in which what a model or a tool gave lies in the journal. JSON knows no bytes, dates, addresses or errors, and the
// ledger keeps no NUL, no half surrogate pair and no prototype key; the AI SDK expects all of them back as they were. Each is
// written as an object with one key that begins with `$`; everything else is its own image, so that people can read it.
import { ErrandError } from '../errors.ts'
import { deepestJson } from '../json.ts'
import { errorOf, imageOfError, isErrorImage } from './error-image.ts'

/** A place where a value is written as something else, by its only key. */
type Tag = '$bytes' | '$date' | '$url' | '$error' | '$text' | '$number' | '$bigint' | '$undefined' | '$entries'

const hostileKeys = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * The JSON image of a value: bytes (`Uint8Array`), `Date`, `URL`, `Error`, bigint, NaN, undefined, texts that no database keeps
 * and keys that could reach a prototype come back from `fromImage` as they were. Other objects are what JSON makes of them.
 * @throws ErrandError INVALID_INPUT for what is nested deeper than `deepest` (or holds itself); `what` names it.
 */
export function toImage(value: unknown, what: string, deepest: number = deepestJson): unknown {
  return imageOf(value, { what, deepest }, 1)
}

interface Bounds {
  what: string
  deepest: number
}

function imageOf(value: unknown, bounds: Bounds, depth: number): unknown {
  if (depth > bounds.deepest) {
    throw new ErrandError(
      'INVALID_INPUT',
      `Cannot store ${bounds.what}: it is nested deeper than ${bounds.deepest} levels, or holds itself.`,
      { what: bounds.what },
    )
  }
  switch (typeof value) {
    case 'string':
      return textImage(value)
    case 'number':
      return Number.isFinite(value) ? value : tagged('$number', String(value))
    case 'bigint':
      return tagged('$bigint', String(value))
    case 'object':
      return value === null ? null : objectImage(value, bounds, depth)
    case 'boolean':
      return value
    default:
      return tagged('$undefined', true)
  }
}

function textImage(text: string): unknown {
  return text.isWellFormed() && !text.includes('\u0000') ? text : tagged('$text', JSON.stringify(text))
}

function objectImage(value: object, bounds: Bounds, depth: number): unknown {
  const inside = (inner: unknown): unknown => imageOf(inner, bounds, depth + 1)
  if (Array.isArray(value)) return value.map(inside)
  if (value instanceof Uint8Array) return tagged('$bytes', Buffer.from(value).toString('base64'))
  if (value instanceof Date) return tagged('$date', Number.isNaN(value.getTime()) ? 'none' : value.toISOString())
  if (value instanceof URL) return tagged('$url', value.href)
  if (value instanceof Error) return tagged('$error', inside(imageOfError(value)))
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return inside(toJSON.call(value))
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined && typeof inner !== 'function')
  if (entries.every(([key]) => isPlainKey(key))) return Object.fromEntries(entries.map(([k, v]) => [k, inside(v)]))
  return tagged(
    '$entries',
    entries.map(([key, inner]) => [textImage(key), inside(inner)]),
  )
}

function isPlainKey(key: string): boolean {
  return !key.startsWith('$') && !hostileKeys.has(key) && key.isWellFormed() && !key.includes('\u0000')
}

function tagged(tag: Tag, image: unknown): Record<string, unknown> {
  return { [tag]: image }
}

/** The value of an image that `toImage` made. */
export function fromImage(image: unknown): unknown {
  if (typeof image !== 'object' || image === null) return image
  if (Array.isArray(image)) return image.map(fromImage)
  const entries = Object.entries(image)
  const [first] = entries
  if (entries.length === 1 && first?.[0].startsWith('$')) return fromTag(first[0] as Tag, first[1])
  return Object.fromEntries(entries.map(([key, inner]) => [key, fromImage(inner)]))
}

function fromTag(tag: Tag, image: unknown): unknown {
  switch (tag) {
    case '$bytes':
      return Uint8Array.from(Buffer.from(image as string, 'base64'))
    case '$date':
      return new Date(image === 'none' ? Number.NaN : (image as string))
    case '$url':
      return new URL(image as string)
    case '$error': {
      const fields = fromImage(image)
      return isErrorImage(fields) ? errorOf(fields) : fields
    }
    case '$text':
      return JSON.parse(image as string)
    case '$number':
      return Number(image)
    case '$bigint':
      return BigInt(image as string)
    case '$undefined':
      return undefined
    case '$entries':
      // Defines own properties, whatever their names are: nothing reaches a prototype.
      return Object.fromEntries((image as Array<[unknown, unknown]>).map(([k, v]) => [fromImage(k), fromImage(v)]))
  }
}
