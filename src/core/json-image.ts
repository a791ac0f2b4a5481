// The image in which values of models and tools are stored. JSON has no bytes, dates, URLs or errors, and the ledger
// stores no NUL and no lone surrogate; the AI SDK expects all of them back. Each is written as an
// object with one key that begins with `$`; everything else is its own image, so that people can read it.
import { ErrandError, type ErrorCode } from './errors.ts'
import { maxJsonDepth } from './json.ts'

/** The only key of an object that encodes such a value. */
type Tag = '$bytes' | '$date' | '$url' | '$error' | '$text' | '$number' | '$bigint' | '$undefined' | '$entries'

/**
 * The JSON image of a value: bytes (`Uint8Array`), `Date`, `URL`, `Error`, bigint, NaN, undefined, and texts and
 * keys that no database stores are restored by `fromImage`. Other objects become what JSON
 * makes of them.
 * @throws ErrandError INVALID_INPUT for a value nested deeper than `maxDepth` (or circular); `what` names it.
 */
export function toImage(value: unknown, what: string, maxDepth: number = maxJsonDepth): unknown {
  return imageOf(value, { what, maxDepth }, 1)
}

interface Bounds {
  what: string
  maxDepth: number
}

function imageOf(value: unknown, bounds: Bounds, depth: number): unknown {
  if (depth > bounds.maxDepth) {
    throw new ErrandError(
      'INVALID_INPUT',
      `Cannot store ${bounds.what}: it is nested deeper than ${bounds.maxDepth} levels or is circular.`,
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
  return !key.startsWith('$') && key.isWellFormed() && !key.includes('\u0000')
}

function tagged(tag: Tag, image: unknown): Record<string, unknown> {
  return { [tag]: image }
}

/** Restores a value from the image that `toImage` made. */
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
      return Object.fromEntries((image as Array<[unknown, unknown]>).map(([k, v]) => [fromImage(k), fromImage(v)]))
  }
}

// ── errors ──

/**
 * An error as a repeated run gets it. The AI SDK reads the name of an error and whether and when it may be retried, and
 * recognizes its own errors by symbols; the message goes into the conversation. All of that is stored; stacks, causes
 * and the request that was sent (a whole conversation with its secrets) are not.
 */
interface ErrorImage {
  name: string
  message: string
  /** Keys of the symbols by which the AI SDK recognizes its errors, whichever copy of the package made them. */
  marks: string[]
  fields: Record<string, unknown>
  /** Set for an error of this engine. */
  code?: ErrorCode
}

const markPrefix = 'vercel.ai.'

/** Fields of the AI SDK's own errors that decide how a loop continues. */
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

/** Maximum length of a field, in characters of JSON: the error page of a server belongs into the log. */
const maxFieldLength = 100_000

/**
 * Leaves out fields without a JSON image, so that storing an error never fails. Nested errors have images of their own.
 */
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
