// The image in which what a model or a tool gave lies in the journal. JSON knows no bytes, dates, addresses or errors, and the
// ledger keeps no NUL, no half surrogate pair and no prototype key; the AI SDK expects all of them back as they were. Each is
// written as an object with one key that begins with `$`; everything else is its own image, so that people can read it.
import { ErrandError, type ErrorCode } from '../core/errors.ts'
import { maxJsonDepth } from '../core/json.ts'

/** A place where a value is written as something else, by its only key. */
type Tag = '$bytes' | '$date' | '$url' | '$error' | '$text' | '$number' | '$bigint' | '$undefined' | '$entries'

const hostileKeys = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * The JSON image of a value: bytes (`Uint8Array`), `Date`, `URL`, `Error`, bigint, NaN, undefined, texts that no database keeps
 * and keys that could reach a prototype come back from `fromImage` as they were. Other objects are what JSON makes of them.
 * @throws ErrandError INVALID_INPUT for what is nested deeper than `deepest` (or holds itself); `what` names it.
 */
export function toImage(value: unknown, what: string, deepest: number = maxJsonDepth): unknown {
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

// ── errors ──

/**
 * An error as a repeated run meets it again. The AI SDK asks of an error what it is called, whether it may be retried and when, and
 * recognises its own by symbols; its text goes into the conversation. All of that survives; stacks, causes and the request that was
 * sent (a whole conversation, with whatever is secret in it) do not.
 */
interface ErrorImage {
  name: string
  message: string
  /** By what the AI SDK recognises its errors, whichever copy of the package made them. */
  marks: string[]
  fields: Record<string, unknown>
  /** Set for an error of this engine. */
  code?: ErrorCode
}

const markPrefix = 'vercel.ai.'

/** What the AI SDK's own errors carry that decides how a loop goes on. */
const keptFields = [
  'code',
  'data',
  'errors',
  'isRetryable',
  'lastError',
  'reason',
  'responseBody',
  'responseHeaders',
  'statusCode',
  'toolInput',
  'toolName',
  'url',
] as const

function imageOfError(error: Error): ErrorImage {
  const { name, message } = error
  if (ErrandError.isInstance(error)) {
    return { name, message, marks: [], code: error.code, fields: withImage(error.details) }
  }
  const marks = Object.getOwnPropertySymbols(error)
    .map((symbol) => Symbol.keyFor(symbol))
    .filter((key) => key?.startsWith(markPrefix))
  const fields = keptFields
    .map((field) => [field, (error as unknown as Record<string, unknown>)[field]])
    .filter(([, value]) => value !== undefined)
  return { name, message, marks: marks as string[], fields: withImage(Object.fromEntries(fields)) }
}

/** Longest field that is kept, in characters of JSON: a page of somebody's server error is for the log. */
const maxFieldLength = 100_000

/** Leaves out what has no JSON image: an error must never fail for what hangs on it. Errors inside have images of their own. */
function withImage(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => {
      try {
        return JSON.stringify(value).length <= maxFieldLength
      } catch {
        return false
      }
    }),
  )
}

function isErrorImage(value: unknown): value is ErrorImage {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<ErrorImage>).marks)
}

function errorOf({ name, message, marks, fields, code }: ErrorImage): Error {
  if (code !== undefined) return new ErrandError(code, message, fields)
  const error = new Error(message)
  const hidden = { configurable: true, writable: true, enumerable: false }
  Object.defineProperty(error, 'name', { ...hidden, value: name })
  for (const mark of marks) Object.defineProperty(error, Symbol.for(mark), { ...hidden, value: true })
  return Object.assign(error, fields)
}
