// What the user's `redact` hook makes of a value before it is stored, published or logged. Applied before anything acts on the value, so that
// the first run of a task sees what a run after a restart would see. An error of the hook never lets the value pass.
import { ErrandError, type StoredCause, type StoredError } from './errors.ts'
import { fromJson, maxJsonLength, toJson } from './json.ts'
import { readableError, rebuiltError, toStoredError } from './stored-error.ts'

/** Gets every value with its place, like `['task', 'input', 'apiKey']`; what it returns takes the value's place. */
export type RedactFunction = (value: unknown, path: readonly string[]) => unknown

/** The hook as the engine uses it. Where the hook changes nothing in a value, the result is that same value. */
export interface Redaction {
  /** There is a hook. */
  readonly isOn: boolean
  /** JSON, as deep as it goes. @throws ErrandError REDACT_FAILED */
  value<T>(value: T, ...path: string[]): T
  /** A text, which must stay a text. @throws ErrandError REDACT_FAILED */
  text(text: string, ...path: string[]): string
  /** The texts and the details of an error; its code stays. Never throws: an error with REDACT_FAILED replaces one that cannot be redacted. */
  storedError<E extends StoredError>(error: E, ...path: string[]): E
  /** Whatever was thrown, as a redacted error for the log. Never throws: REDACT_FAILED replaces an error that cannot be redacted. */
  thrown(thrown: unknown): unknown
}

/** Keys above a value, at most: a hook that returns ever more is stopped. Values are never so deep; a text that is JSON may be. */
const maxDepth = 1_000

const noRedaction: Redaction = {
  isOn: false,
  value: (value) => value,
  text: (text) => text,
  storedError: (error) => error,
  thrown: readableError,
}

export function redactionBy(redact: RedactFunction | undefined): Redaction {
  if (redact === undefined) return noRedaction

  const told = (value: unknown, path: readonly string[]): unknown => {
    const given = redact(value, path)
    if (given === undefined) throw failed(path, 'returned nothing')
    if (isPromise(given)) {
      given.catch?.(() => {})
      throw failed(path, 'returned a promise, although it has to answer at once,')
    }
    return given
  }

  const visit = (value: unknown, path: readonly string[]): unknown => {
    if (value === null || value === undefined) return value
    if (path.length > maxDepth) throw failed(path.slice(0, 2), `met values nested deeper than ${maxDepth} levels`)
    try {
      const given = told(value, path)
      if (typeof given === 'string') return visitText(given, path)
      return typeof given === 'object' && given !== null ? visitInside(given, path) : given
    } catch (error) {
      if (isRedactFailure(error)) throw error
      // Thrown by the hook, or by what it returned: it may hold the value.
      throw failed(path, `threw ${error instanceof Error ? `an error (${error.name})` : 'something'}`)
    }
  }

  /** A value is found under its key in a text that is JSON, too: models write their arguments so. */
  const visitText = (text: string, path: readonly string[]): string => {
    const json = jsonIn(text, maxJsonLength)
    if (json === undefined) return text
    const changed = visitInside(json, path)
    return changed === json ? text : JSON.stringify(changed)
  }

  const visitInside = (value: object, path: readonly string[]): object =>
    mapFields(value, (field, key) => visit(field, [...path, key]))

  const redactedError = <E extends StoredCause>(error: E, path: readonly string[]): E => {
    const changed = { ...error }
    for (const key of ['message', 'name', 'stack'] as const) {
      const text = error[key]
      if (text !== undefined) changed[key] = redaction.text(text, ...path, key)
    }
    if (error.details !== undefined)
      changed.details = redaction.value(withoutPreviews(error.details), ...path, 'details')
    if (error.cause !== undefined) changed.cause = redactedError(error.cause, [...path, 'cause'])
    const isChanged = (Object.keys(changed) as Array<keyof E>).some((key) => changed[key] !== error[key])
    return isChanged ? changed : error
  }

  const redaction: Redaction = {
    isOn: true,
    value<T>(value: T, ...path: string[]): T {
      const changed = visit(value, path)
      if (changed === value) return value
      try {
        return fromJson(toJson(changed, 'what `redact` returned')) as T
      } catch {
        throw failed(path, 'returned what is no JSON')
      }
    },
    text(text, ...path) {
      const changed: unknown = redaction.value<unknown>(text, ...path)
      if (typeof changed === 'string') return changed
      throw failed(path, 'returned no text in place of a text')
    },
    storedError(error, ...path) {
      try {
        return redactedError(error, path)
      } catch (failure) {
        const { code, message, details } = toStoredError(failure)
        return { code, message, details, ...(error.final === true ? { final: true } : {}) } as typeof error
      }
    },
    thrown(thrown) {
      try {
        const stored = redactedError(toStoredError(thrown), ['log', 'error'])
        const error = rebuiltError(stored, thrown)
        return stored.stack === undefined
          ? error
          : Object.defineProperty(error, 'stack', { value: stored.stack, configurable: true, writable: true })
      } catch (error) {
        return error
      }
    },
  }
  return redaction
}

/** The object or list that a text is the JSON of; undefined for any other text, and for one of more characters. */
export function jsonIn(text: string, longest: number): object | undefined {
  if (text.length > longest || !/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined
  }
}

/** An object or a list with its fields changed; itself when none of them is. */
export function mapFields(value: object, change: (field: unknown, key: string) => unknown): object {
  const fields = Object.entries(value)
  const changed = fields.map(([key, field]): [string, unknown] => [key, change(field, key)])
  if (changed.every(([, field], index) => field === fields[index]?.[1])) return value
  return Array.isArray(value) ? changed.map(([, field]) => field) : Object.fromEntries(changed)
}

/** Of details that are too large, an error holds the first characters: JSON that is cut off, in which no value is found under its key. */
function withoutPreviews(details: unknown): unknown {
  if (typeof details !== 'object' || details === null) return details
  const { truncated, preview } = details as { truncated?: unknown; preview?: unknown }
  return truncated === true && typeof preview === 'string' ? { truncated } : mapFields(details, withoutPreviews)
}

/** An object that has to stay one: what takes its place stands in it under `redacted`. */
export function objectToStore(redaction: Redaction, value: object, ...path: string[]): Record<string, unknown> {
  const changed: unknown = redaction.value<unknown>(value, ...path)
  const isObject = typeof changed === 'object' && changed !== null && !Array.isArray(changed)
  return (isObject ? changed : { redacted: changed }) as Record<string, unknown>
}

/** Stored, it would be an empty object. */
function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** The hook has failed: what was to be written cannot be. */
export function isRedactFailure(error: unknown): boolean {
  return ErrandError.isInstance(error) && error.code === 'REDACT_FAILED'
}

function failed(path: readonly string[], why: string): ErrandError {
  const place = path.join('.')
  return new ErrandError(
    'REDACT_FAILED',
    `Nothing was stored or told: the \`redact\` hook ${why} for ${place}. It must return a value for everything that it is given: the value itself, or what takes its place.`,
    { path: [...path] },
  )
}
