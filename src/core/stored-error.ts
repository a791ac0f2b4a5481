// Turns a thrown value into a stored error. User code may throw anything: a revoked proxy, an error with a getter that throws,
// cyclic details. Every property of a thrown value is read in this file; a read that throws counts as undefined.
import { inspect, types } from 'node:util'
import { boundedImage } from './bounded-image.ts'
import { ErrandError, type ErrorCode, Failure, type StoredCause, type StoredError } from './errors.ts'
import { lossIn } from './json-losses.ts'
import { codeless, restoredError } from './restored-error.ts'
import { clipped, storableText } from './storable-text.ts'

/** Bounds of a stored error, in UTF-16 units; those of `details` and `rest` count characters of JSON. */
export const errorBounds = {
  /** A code, and the name of a class. */
  name: 200,
  message: 8_000,
  stack: 4_000,
  /** Of each error in the chain of causes and of each error in an AggregateError. */
  causeMessage: 1_000,
  /** Depth of the chain of causes; deeper ones are dropped. */
  causes: 5,
  /** Errors of an AggregateError. */
  errors: 10,
  details: 16_384,
  /** The own fields of one error, and a thrown value that is not an error. */
  fields: 4_096,
  /** Everything but the details. When it is too long, the stacks of the causes are dropped first, then causes, stack and half of the message. */
  rest: 49_152,
} as const

/** How failures of the engine itself are stored, where that differs from other errors. */
interface StorageHints {
  /** Keep the details unchanged, because a replayed run needs them. They are bounded JSON already. */
  wholeDetails?: boolean
  /** Do not store the cause: the error of a provider may quote a key or a whole request. */
  withoutCause?: boolean
}

const storageHints = new WeakMap<object, StorageHints>()

function hintsOf(thrown: unknown): StorageHints | undefined {
  return isObject(thrown) ? storageHints.get(thrown) : undefined
}

/** Sets how this failure is stored, and returns it. */
export function storedWith(failure: Failure, hints: StorageHints): Failure {
  storageHints.set(failure, hints)
  return failure
}

/**
 * The stored form of a thrown value (an Error, a string, undefined, a hostile object); `fallback` is the code of errors without one.
 *
 * It never throws. It returns JSON that every ledger keeps, within `errorBounds`: a message of 8,000 UTF-16 units, a
 * stack of 4,000, five causes, and details of 16 KiB of JSON (larger ones are replaced by `{ truncated: true, preview }`); at most
 * 64 KiB of JSON in all. The errors of an AggregateError become `details.errors`, and small fields of an error of its own are kept.
 */
export function toStoredError(thrown: unknown, fallback: ErrorCode = 'TASK_FAILED'): StoredError {
  const whole = causeOf(thrown, { message: errorBounds.message, causes: errorBounds.causes, seen: new Set() })
  const { code: _code, ...described } = whole
  const brand = isErrand(thrown) ? 'ErrandError' : isFailure(thrown) ? 'Failure' : undefined
  const details = hintsOf(thrown)?.wholeDetails ? property(thrown, 'details') : detailsOf(thrown)
  const rest = fitted({
    code: codeOf(thrown) ?? fallback,
    ...described,
    ...(brand === undefined ? {} : { brand }),
  })
  const isFinal = isFailure(thrown) && property(thrown, 'retry') === false
  return { ...rest, ...(details === undefined ? {} : { details }), ...(isFinal ? { final: true } : {}) }
}

/** The `retryAfterMs` of a `Failure`; undefined when it has none or an invalid one. */
export function retryAfterOf(thrown: unknown): number | undefined {
  const given = isFailure(thrown) ? property(thrown, 'retryAfterMs') : undefined
  return typeof given === 'number' && given >= 0 && Number.isFinite(given) ? given : undefined
}

/**
 * A thrown value that is safe to read: the value itself when all its properties can be read, else an error with the readable
 * ones. Call this where user code throws into the engine.
 */
export function readableError(thrown: unknown): unknown {
  if (isReadable(thrown, errorBounds.causes)) return thrown
  const { cause: _cause, thrown: _thrown, ...stored } = toStoredError(thrown)
  return stored.brand === undefined ? codeless(stored) : restoredError(stored)
}

/** A thrown value as text for a log, with its stack. Unlike `console.error(error)`, this never throws. */
export function describeError(thrown: unknown): string {
  try {
    return inspect(thrown)
  } catch {
    const { code, message, stack } = toStoredError(thrown)
    return stack ?? `${code}: ${message}`
  }
}

/** The message of an error; for other thrown values, what `String` returns. */
export function messageOf(thrown: unknown): string {
  const text = attempt(() => {
    const { message, name } = (isObject(thrown) ? thrown : {}) as Partial<Error>
    if (isError(thrown)) return String(message || name || 'Error')
    return typeof message === 'string' && message !== '' ? message : String(thrown)
  })
  return storableText(text ?? 'an object that has no text')
}

function codeOf(thrown: unknown): string | undefined {
  if (!isErrand(thrown) && !isFailure(thrown)) return systemCode(thrown)
  const code = property(thrown, 'code')
  return typeof code === 'string' ? storable(code, errorBounds.name) : undefined
}

/** The code that Node and many libraries add to errors (`ECONNRESET`, `ERR_INVALID_URL`); a retry policy may name it. */
function systemCode(thrown: unknown): string | undefined {
  const code = isError(thrown) ? property(thrown, 'code') : undefined
  return typeof code === 'string' && /^E[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : undefined
}

interface CauseBounds {
  message: number
  /** How many causes below this one are kept. */
  causes: number
  /** Errors above this one: a cyclic chain ends at the first repetition. */
  seen: Set<unknown>
}

function causeOf(thrown: unknown, { message, causes, seen }: CauseBounds): StoredCause {
  const text = clipped(messageOf(thrown), message)
  if (!isError(thrown)) return { message: text, thrown: thrownValue(thrown) }
  const [name, code, below] = [property(thrown, 'name'), property(thrown, 'code'), property(thrown, 'cause')]
  const stack = stackOf(thrown)
  seen.add(thrown)
  const isKept = causes > 0 && !hintsOf(thrown)?.withoutCause
  const hasCause = isKept && below !== undefined && below !== null && !seen.has(below)
  return {
    message: text,
    ...(typeof name === 'string' ? { name: storable(name || 'Error', errorBounds.name) } : {}),
    ...(typeof code === 'string' && code !== '' ? { code: storable(code, errorBounds.name) } : {}),
    ...fieldsOf(thrown),
    ...(stack === undefined ? {} : { stack }),
    ...(hasCause
      ? { cause: withErrors(below, causeOf(below, { message: errorBounds.causeMessage, causes: causes - 1, seen })) }
      : {}),
  }
}

function thrownValue(thrown: unknown): { value?: unknown } {
  return thrown === undefined ? {} : { value: boundedJson(thrown, errorBounds.fields) }
}

/** Stored or restored otherwise. */
const knownFields = new Set(['name', 'message', 'stack', 'cause', 'details', 'retry'])

/**
 * The error's own fields that JSON carries. One that is larger than what is left of the bound is dropped, and so is what belongs to a
 * library or a connection (objects of classes, functions).
 */
function fieldsOf(thrown: unknown): { fields?: Record<string, unknown> } {
  if (hintsOf(thrown)?.withoutCause) return {}
  const isOurs = isErrand(thrown) || isFailure(thrown)
  const kept: Array<[string, unknown]> = []
  let left: number = errorBounds.fields
  // The code of a DOMException is not its own.
  for (const key of new Set(['code', ...(attempt(() => Object.keys(thrown as object)) ?? [])])) {
    if (knownFields.has(key) || (isOurs && key === 'code')) continue
    const value = property(thrown, key)
    if (value === undefined || typeof value === 'function' || typeof value === 'symbol') continue
    const image = boundedJson(value, left)
    if (isTruncated(image) || lossIn(value, 'lost') !== undefined) continue
    left -= JSON.stringify([key, image]).length
    if (left < 0) break
    kept.push([storableText(key), image])
  }
  return kept.length === 0 ? {} : { fields: Object.fromEntries(kept) }
}

function isTruncated(image: unknown): boolean {
  return typeof image === 'object' && image !== null && (image as { truncated?: unknown }).truncated === true
}

/** Network errors of Node carry their information in the errors of an AggregateError, which may itself be a cause. */
function withErrors(thrown: unknown, cause: StoredCause): StoredCause {
  const details = aggregated(thrown)
  return details === undefined ? cause : { ...cause, details }
}

/** The frames are kept in preference to a long message, which the stack repeats. */
function stackOf(thrown: unknown): string | undefined {
  const stack = property(thrown, 'stack')
  if (typeof stack !== 'string' || stack === '') return undefined
  const frames = stack.length > errorBounds.stack ? stack.indexOf('\n    at ') : -1
  if (frames < 0) return storable(stack, errorBounds.stack)
  return storable(
    `${clipped(stack.slice(0, frames), errorBounds.causeMessage)}${stack.slice(frames)}`,
    errorBounds.stack,
  )
}

function detailsOf(thrown: unknown): unknown {
  if (!isErrand(thrown) && !isFailure(thrown)) return aggregated(thrown)
  const details = property(thrown, 'details')
  return details === undefined ? undefined : boundedJson(details, errorBounds.details)
}

function aggregated(thrown: unknown): { errors: StoredCause[] } | undefined {
  const errors = isError(thrown) ? property(thrown, 'errors') : undefined
  const listed = attempt(() => (Array.isArray(errors) ? Array.from(errors.slice(0, errorBounds.errors)) : []))
  if (listed === undefined || listed.length === 0) return undefined
  return {
    errors: listed.map((error) => {
      const bounds = { message: errorBounds.causeMessage, causes: 0, seen: new Set() }
      const { stack: _stack, fields: _fields, thrown: _thrown, ...brief } = causeOf(error, bounds)
      return brief
    }),
  }
}

type Undetailed = Omit<StoredError, 'details' | 'final'>

/** JSON may encode one character as six (`\u0001`), so bounds in characters do not bound the JSON text. */
function fitted(error: Undetailed): Undetailed {
  const { cause, stack: _stack, ...bare } = error
  const { fields: _fields, thrown: _thrown, ...fieldless } = bare
  const smaller: Array<() => Undetailed> = [
    () => error,
    () => (cause === undefined ? error : { ...error, cause: withoutStacks(cause) }),
    () => {
      const { cause: _cause, ...causeless } = error
      return causeless
    },
    () => bare,
    () => fieldless,
  ]
  for (const shrink of smaller) {
    const smallerError = shrink()
    if (JSON.stringify(smallerError).length <= errorBounds.rest) return smallerError
  }
  return { ...fieldless, message: clipped(bare.message, errorBounds.message / 2) }
}

function withoutStacks({ stack: _stack, cause, ...rest }: StoredCause): StoredCause {
  return cause === undefined ? rest : { ...rest, cause: withoutStacks(cause) }
}

const storable = (text: string, maxLength: number): string => storableText(clipped(text, maxLength))

// ── safe reads ──

/** Returns the result of `read`; undefined when it throws. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

function property(value: unknown, key: string): unknown {
  return isObject(value) ? attempt(() => (value as Record<string, unknown>)[key]) : undefined
}

/** Also true for an error of another realm, for which `instanceof Error` is false. */
function isError(value: unknown): boolean {
  return types.isNativeError(value) || isErrand(value) || attempt(() => value instanceof Error) === true
}

function isErrand(value: unknown): boolean {
  return ErrandError.isInstance(value)
}

function isFailure(value: unknown): boolean {
  return attempt(() => value instanceof Failure) === true
}

const readByTheEngine = ['name', 'code', 'stack', 'details', 'retry', 'retryAfterMs'] as const

/** True when every property that the engine reads of errors can be read, and the value has a text. */
function isReadable(thrown: unknown, causes: number): boolean {
  if (!isObject(thrown)) return true
  const hasRead = attempt(() => {
    for (const key of readByTheEngine) void (thrown as Record<string, unknown>)[key]
    const { message, cause } = thrown as { message?: unknown; cause?: unknown }
    void `${(thrown instanceof Error ? message : thrown) as string}`
    return causes === 0 || isReadable(cause, causes - 1)
  })
  return hasRead === true
}

/** Of the preview of a value that is too large, in characters. */
const maxPreviewLength = 1_000

/** The image of a value; one of more than `maxLength` characters of JSON is replaced by `{ truncated: true, preview }`. */
function boundedJson(value: unknown, maxLength: number): unknown {
  const { image = null, isCut } = boundedImage(value, maxLength)
  const text = JSON.stringify(image)
  if (!isCut && text.length <= maxLength) return image
  return { truncated: true, preview: clipped(text, maxPreviewLength) }
}
