// Applies the user's `redact` hook to a value before it is stored, published or logged, and before anything acts on it, so that the
// first run of a task sees the same value as a run after a restart. When the hook throws, the value is not written.
import { ErrandError, type StoredCause, type StoredError } from './errors.ts'
import { isPromise } from './guarded.ts'
import { fromJson, maxJsonLength, toJson } from './json.ts'
import { restoredError } from './restored-error.ts'
import { readableError, toStoredError } from './stored-error.ts'

/** Receives every value with its path, like `['task', 'input', 'apiKey']`; the returned value replaces it. */
export type RedactFunction = (value: unknown, path: readonly string[]) => unknown

/** The hook as the engine uses it. Returns the same value when the hook changes nothing in it. */
export interface Redaction {
  /** False without a hook. */
  readonly isOn: boolean
  /** A JSON value, at every level. @throws ErrandError REDACT_FAILED */
  value<T>(value: T, ...path: string[]): T
  /** A text; the hook must return a text. @throws ErrandError REDACT_FAILED */
  text(text: string, ...path: string[]): string
  /** The texts and the details of an error, not its code. Never throws: an error that cannot be redacted is replaced by REDACT_FAILED. */
  storedError<E extends StoredError>(error: E, ...path: string[]): E
  /** A thrown value as a redacted error for the log. Never throws: an error that cannot be redacted is replaced by REDACT_FAILED. */
  thrown(thrown: unknown): unknown
}

/** Stops a hook that returns ever deeper values. Stored values are never so deep; a text that is JSON may be. */
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

  const callHook = (value: unknown, path: readonly string[]): unknown => {
    if (path.length > maxDepth) throw failed(path.slice(0, 2), `met values nested deeper than ${maxDepth} levels`)
    return attempt(path, () => {
      const given = redact(value, path)
      if (given === undefined) throw failed(path, 'returned nothing')
      // A promise would be stored as an empty object.
      if (isPromise(given)) {
        Promise.resolve(given).catch(() => {})
        throw failed(path, 'returned a promise, although it must be synchronous,')
      }
      return given
    })
  }

  const redactedError = <E extends StoredCause>(error: E, path: readonly string[]): E => {
    const changed = { ...error }
    for (const key of ['message', 'name', 'stack'] as const) {
      const text = error[key]
      if (text !== undefined) changed[key] = redaction.text(text, ...path, key)
    }
    if (error.fields !== undefined) changed.fields = objectToStore(redaction, error.fields, ...path, 'fields')
    if (error.thrown !== undefined && 'value' in error.thrown)
      changed.thrown = { value: redaction.value(error.thrown.value, ...path, 'thrown') }
    if (error.details !== undefined)
      changed.details = redaction.value(withoutPreviews(error.details), ...path, 'details')
    if (error.cause !== undefined) changed.cause = redactedError(error.cause, [...path, 'cause'])
    const isChanged = (Object.keys(changed) as Array<keyof E>).some(
      (key) => changed[key] !== error[key] && (key !== 'thrown' || changed.thrown?.value !== error.thrown?.value),
    )
    return isChanged ? changed : error
  }

  const redaction: Redaction = {
    isOn: true,
    value<T>(value: T, ...path: string[]): T {
      const changed = attempt(path, () => changedBy({ change: callHook }, value, path))
      if (changed === value) return value
      try {
        return fromJson(toJson(changed, 'what `redact` returned')) as T
      } catch {
        throw failed(path, 'returned a value that is not JSON')
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
        return restoredError(stored)
      } catch (error) {
        return error
      }
    },
  }
  return redaction
}

/** How values are changed. */
export interface Changes {
  change: RedactFunction
  /** Changes a text that `change` returned; `isJson`: one that is JSON, after what it encodes. Default: none. */
  text?(text: string, isJson: boolean): string
  /** Changes the key of a field. Default: none. */
  key?(key: string): string
}

/**
 * The value with all inside it changed, outer values first; the same value if nothing changes. A text that is JSON is changed inside too, because
 * models write their arguments as JSON texts.
 */
export function changedBy(changes: Changes, value: unknown, path: readonly string[]): unknown {
  if (value === null || value === undefined) return value
  const { change, text = (given: string) => given, key: keyOf } = changes
  const inside = (holder: object): object =>
    mapFields(holder, (field, key) => changedBy(changes, field, [...path, key]), keyOf)
  const given = change(value, path)
  if (typeof given === 'object' && given !== null) return inside(given)
  if (typeof given !== 'string') return given
  const json = jsonIn(given, maxJsonLength)
  if (json === undefined) return text(given, false)
  const changed = inside(json)
  return text(changed === json ? given : JSON.stringify(changed), true)
}

/** Runs what may throw because of the hook, or of a value that it returned. The message may quote the secret, so only the name is kept. */
function attempt<T>(path: readonly string[], run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (isRedactFailure(error)) throw error
    throw failed(path, `threw ${error instanceof Error ? `an error (${error.name})` : 'something'}`)
  }
}

/** The object or array that a JSON text encodes; undefined for any other text, and for one of more than `maxLength` characters. */
export function jsonIn(text: string, maxLength: number): object | undefined {
  if (text.length > maxLength || !/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined
  }
}

/** An object or an array with its fields changed, and perhaps its keys; the same object when nothing changes. */
export function mapFields(
  value: object,
  change: (field: unknown, key: string) => unknown,
  keyOf = (key: string): string => key,
): object {
  const fields = Object.entries(value)
  const changed = fields.map(([key, field]): [string, unknown] => [keyOf(key), change(field, key)])
  if (changed.every(([key, field], index) => key === fields[index]?.[0] && field === fields[index][1])) return value
  return Array.isArray(value) ? changed.map(([, field]) => field) : Object.fromEntries(changed)
}

/** Removes the previews of truncated details: they are JSON that is cut off, in which values cannot be found by their keys. */
function withoutPreviews(details: unknown): unknown {
  if (typeof details !== 'object' || details === null) return details
  const { truncated, preview } = details as { truncated?: unknown; preview?: unknown }
  return truncated === true && typeof preview === 'string' ? { truncated } : mapFields(details, withoutPreviews)
}

/** Redacts an object that must stay an object: any other replacement is stored under the key `redacted`. */
export function objectToStore(redaction: Redaction, value: object, ...path: string[]): Record<string, unknown> {
  const changed: unknown = redaction.value<unknown>(value, ...path)
  const isObject = typeof changed === 'object' && changed !== null && !Array.isArray(changed)
  return (isObject ? changed : { redacted: changed }) as Record<string, unknown>
}

export function isRedactFailure(error: unknown): boolean {
  return ErrandError.isInstance(error) && error.code === 'REDACT_FAILED'
}

function failed(path: readonly string[], why: string): ErrandError {
  return new ErrandError(
    'REDACT_FAILED',
    `Nothing was stored or published: the \`redact\` hook ${why} for ${path.join('.')}. It must return a value for every value that it receives: the same value, or its replacement.`,
    { path: [...path] },
  )
}
