// Restores errors from their stored form: what a call has thrown reaches the executor in this form, in the first run as in every later
// one. What is stored of an error is decided in stored-error.ts.
import { ErrandError, type ErrorCode, Failure, type StoredCause, type StoredError } from './errors.ts'

/**
 * What a recorded failure throws: an error of the same class name with the same code, fields, details and cause, or the thrown value itself
 * when it was not an error. Of the classes themselves only those of this package and of the language are restored.
 */
export function restoredError(stored: StoredError): unknown {
  const { code, message, name, brand, fields, details, thrown, stack, final } = stored
  if (thrown !== undefined) return thrown.value
  const cause = causeIn(stored)
  if (brand === 'Failure' || final === true) {
    const retryAfterMs = fields?.['retryAfterMs']
    const again = typeof retryAfterMs === 'number' ? { retryAfterMs } : {}
    return described(new Failure(message, { code, retry: final !== true, ...again, details, cause }), { name, stack })
  }
  if (brand === 'ErrandError' || name === undefined) {
    const error = new ErrandError(code as ErrorCode, message, { ...(details as object | undefined) }, cause)
    return described(error, { name, stack }, fields)
  }
  return codeless(stored)
}

/** The code of such an error is the engine's; one of its own is among the fields. */
export function codeless({ code: _code, ...stored }: StoredError): Error {
  return restoredCause(stored)
}

const nativeErrors: Readonly<Record<string, ErrorConstructor>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
}

/**
 * An error with the name, the fields, the stack and the causes of a stored one. Without a stored stack, its stack has no frames, unless the
 * engine recorded it.
 */
export function restoredCause(stored: StoredCause): Error {
  const { message, name = 'Error', code, fields, stack = `${name}: ${message}` } = stored
  const cause = causeIn(stored)
  const options = cause === undefined ? undefined : { cause }
  const list = (stored.details as { errors?: unknown } | undefined)?.errors
  if (name === 'AggregateError' && Array.isArray(list)) {
    const errors = (list as StoredCause[]).map(thrownAs)
    return described(new AggregateError(errors, message, options), { name, stack }, fields)
  }
  const NativeError = (Object.hasOwn(nativeErrors, name) && nativeErrors[name]) || Error
  const error = described(new NativeError(message, options), { name, stack }, fields)
  if (code !== undefined && !Object.hasOwn(error, 'code')) hide(error, 'code', code)
  if (Array.isArray(list) && !Object.hasOwn(fields ?? {}, 'errors'))
    hide(error, 'errors', (list as StoredCause[]).map(thrownAs))
  return error
}

/** The stored cause as it was thrown. */
function causeIn({ cause }: Pick<StoredCause, 'cause'>): unknown {
  return cause === undefined ? undefined : thrownAs(cause)
}

function thrownAs(stored: StoredCause): unknown {
  return stored.thrown === undefined ? restoredCause(stored) : stored.thrown.value
}

/** Sets what a constructor does not take. */
function described<E extends Error>(
  error: E,
  { name, stack }: { name?: string | undefined; stack?: string | undefined },
  fields: Readonly<Record<string, unknown>> = {},
): E {
  if (name !== undefined && error.name !== name) hide(error, 'name', name)
  if (stack !== undefined) hide(error, 'stack', stack)
  for (const [key, value] of Object.entries(fields)) {
    Object.defineProperty(error, key, { value, configurable: true, enumerable: true, writable: true })
  }
  return error
}

function hide(error: Error, key: string, value: unknown): void {
  Object.defineProperty(error, key, { value, configurable: true, writable: true })
}
