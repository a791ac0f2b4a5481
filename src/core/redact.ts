// What the user's `redact` hook makes of a value before it is stored, published or logged. Applied before anything acts on the value, so that
// the first run of a task sees what a run after a restart would see. An error of the hook never lets the value pass.
import { ErrandError, type StoredCause, type StoredError } from './errors.ts'
import { fromJson, toJson } from './json.ts'
import { readableError, rebuiltError, toStoredError } from './stored-error.ts'

/** Gets every value with its place, like `['task', 'input', 'apiKey']`; what it returns takes the value's place. */
export type RedactFunction = (value: unknown, path: readonly string[]) => unknown

/** The hook as the engine uses it. A value in which it changes nothing is given back itself. */
export interface Redaction {
  /** There is a hook. */
  readonly isOn: boolean
  /** JSON, as deep as it goes. @throws ErrandError REDACT_FAILED */
  value<T>(value: T, ...path: string[]): T
  /** A text that has to stay one. @throws ErrandError REDACT_FAILED */
  text(text: string, ...path: string[]): string
  /** The texts and the details of an error; its code stays. Never throws: in place of one that cannot be redacted stands REDACT_FAILED. */
  storedError<E extends StoredError>(error: E, ...path: string[]): E
  /** Whatever was thrown, as an error that may be told. Never throws: what cannot be redacted is told as that. */
  thrown(thrown: unknown): unknown
}

/** Deepest place of a value: the engine stores none that is deeper, so a hook that returns ever more is stopped. */
const deepest = 100
/** Characters of a text that is read as JSON. */
const maxJsonLength = 4 * 1024 * 1024

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
    let given: unknown
    try {
      given = redact(value, path)
    } catch (error) {
      // What it threw may hold the value.
      throw failed(path, `threw ${error instanceof Error ? `an error (${error.name})` : 'something'}`)
    }
    if (given === undefined) throw failed(path, 'returned nothing')
    if (isPromise(given)) {
      given.catch?.(() => {})
      throw failed(path, 'returned a promise, although it has to answer at once,')
    }
    return given
  }

  const visit = (value: unknown, path: readonly string[]): unknown => {
    if (value === null || value === undefined) return value
    if (path.length > deepest) throw failed(path, `was to be shown values nested deeper than ${deepest} levels`)
    const given = told(value, path)
    if (typeof given === 'string') return visitText(given, path)
    return typeof given === 'object' && given !== null ? visitInside(given, path) : given
  }

  /** A value is found under its key in a text that is JSON, too: models write their arguments so. */
  const visitText = (text: string, path: readonly string[]): string => {
    const json = jsonIn(text, maxJsonLength)
    if (json === undefined) return text
    const changed = visitInside(json, path)
    return changed === json ? text : JSON.stringify(changed)
  }

  const visitInside = (value: object, path: readonly string[]): object => {
    const fields = Object.entries(value)
    const changed = fields.map(([key, field]): [string, unknown] => [key, visit(field, [...path, key])])
    if (changed.every(([, field], index) => field === fields[index]?.[1])) return value
    return Array.isArray(value) ? changed.map(([, field]) => field) : Object.fromEntries(changed)
  }

  const redactedError = <E extends StoredCause>(error: E, path: readonly string[]): E => {
    const changed = { ...error }
    for (const key of ['message', 'name', 'stack'] as const) {
      const text = error[key]
      if (text !== undefined) changed[key] = redaction.text(text, ...path, key)
    }
    if (error.details !== undefined) changed.details = redaction.value(error.details, ...path, 'details')
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

/** An object that has to stay one: what takes its place stands in it under `redacted`. */
export function objectToStore(redaction: Redaction, value: object, ...path: string[]): Record<string, unknown> {
  const changed: unknown = redaction.value<unknown>(value, ...path)
  const isObject = typeof changed === 'object' && changed !== null && !Array.isArray(changed)
  return (isObject ? changed : { redacted: changed }) as Record<string, unknown>
}

/** Params of a journal entry as they are stored: those of calls and of questions hold what users say. */
export function paramsToStore(redaction: Redaction, kind: string, params: unknown): unknown {
  if (kind !== 'call' && kind !== 'ask') return params
  const changed = redaction.value(params, 'call', 'params')
  // Who may answer is no content.
  return kind === 'ask' && changed !== params ? { ...(changed as object), ...whoAnswers(params) } : changed
}

/** Stored, it would be an empty object. */
function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

function whoAnswers(params: unknown): { for?: unknown } {
  const asked = params as { for?: unknown }
  return asked.for === undefined ? {} : { for: asked.for }
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
