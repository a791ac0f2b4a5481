// One journaled execution for the AI SDK: `run.call` with values and errors as their images, so that a repeated run
// gives the SDK the same values and errors as the first, and its loop takes the same path.

import { ErrandError, Failure } from '../../core/errors.ts'
import { fromImage, toImage } from '../../core/json-image.ts'
import { readableError, storedWith, toStoredError } from '../../core/stored-error.ts'
import type { CallContext, CallOptions } from '../../entities/call-options.ts'
import type { Run } from '../../entities/executor.ts'

/** The outcome of an execution. `also` is stored with the error for a repeated run. */
export type Outcome<T> = { ok: true; value: T } | FailedOutcome

export interface FailedOutcome {
  ok: false
  error: unknown
  /** False: `options.retry` does not apply. Default true. */
  retry?: boolean
  /** The delay in milliseconds that the error requests. */
  retryAfterMs?: number | undefined
  also?: unknown
}

/** Options of one journaled execution; its key is set separately. */
export type CallSettings = Omit<CallOptions, 'key'>

export interface Execution<T> {
  name: string
  key: string
  /** Shown to people; the key is the identity. */
  params: unknown
  options: CallSettings
  /** Executes it; a thrown error is an outcome too. */
  perform(context: CallContext): Promise<Outcome<T>>
}

/** Key of the image of the thrown error in the details of a recorded failure. */
const thrownKey = '$thrown'

/** Executes it, or returns the recorded outcome. Never rejects. Both are restored from their images, in the first run too. */
export async function journaled<T>(run: Run, execution: Execution<T>): Promise<Outcome<T>> {
  const { name, key, params, options, perform } = execution
  try {
    const image = await run.call(
      name,
      params,
      async (_params, context) => {
        const outcome = await outcomeOf(() => perform(context))
        if (outcome.ok) return imageOrValue(outcome.value, `the result of "${name}"`)
        throw isStoredAsItIs(outcome.error) ? outcome.error : toFailure(outcome)
      },
      { ...options, key },
    )
    return { ok: true, value: fromImage(image) as T }
  } catch (error) {
    return recordedFailure(error)
  }
}

async function outcomeOf<T>(perform: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await perform()
  } catch (error) {
    return { ok: false, error: readableError(error) }
  }
}

/** The execution has had its effects: the call decides what becomes of a value that has no image. */
function imageOrValue(value: unknown, what: string): unknown {
  try {
    return toImage(value, what)
  } catch {
    return value
  }
}

/** Errors that the journal stores and throws again by itself. */
function isStoredAsItIs(error: unknown): error is Error {
  if (error instanceof Failure) return true
  return ErrandError.isInstance(error) && ['RUN_ENDED', 'CALL_INTERRUPTED', 'TIMEOUT'].includes(error.code)
}

function toFailure({ error, retry = true, retryAfterMs, also }: FailedOutcome): Failure {
  const { code, message } = toStoredError(error, 'CALL_FAILED')
  const details = {
    [thrownKey]: thrownImage(error, message),
    ...(also === undefined ? {} : { also: toImage(also, `what came with the error "${message}"`) }),
  }
  const failure = new Failure(message, {
    code,
    retry,
    details,
    cause: error,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
  // The image in the details replaces the cause, without the request that was sent.
  return storedWith(failure, { wholeDetails: true, withoutCause: true })
}

/** A failure is never lost because its fields cannot be stored: its message is enough. */
function thrownImage(error: unknown, message: string): unknown {
  try {
    return toImage(error, 'an error')
  } catch {
    return toImage(new Error(message), 'an error')
  }
}

/** The failure of an earlier run, or the refusal of this one. */
function recordedFailure(error: unknown): FailedOutcome {
  const details = recordedDetails(error)
  if (details === undefined || !(thrownKey in details)) return { ok: false, error }
  return { ok: false, error: fromImage(details[thrownKey]), also: fromImage(details['also']) }
}

function recordedDetails(error: unknown): Record<string, unknown> | undefined {
  return error instanceof Failure ? recordOf(error.details) : undefined
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
}

/** Aborts with the run, with the time-out of the call, and with the signal of the caller. */
export function anyOf(signal: AbortSignal, callers: AbortSignal | undefined): AbortSignal {
  return callers === undefined ? signal : AbortSignal.any([signal, callers])
}
