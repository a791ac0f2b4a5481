// One journaled execution on behalf of the AI SDK: `run.call` with values and errors as their images, so that a repeated run
// gives the SDK what the first one gave it, errors included: its loop then takes the same way again.

import type { CallContext, CallOptions, Run } from '../api/executor.ts'
import { ErrandError, Failure } from '../core/errors.ts'
import { readableError, storedWith, toStoredError } from '../core/stored-error.ts'
import { fromImage, toImage } from './json-image.ts'

/** What came of it. `also` is what a repeated run needs beside the error. */
export type Outcome<T> = { ok: true; value: T } | FailedOutcome

export interface FailedOutcome {
  ok: false
  error: unknown
  /** False: `options.retry` does not try again. Default true. */
  retry?: boolean
  /** Milliseconds that whoever failed wants to be left alone. */
  retryAfterMs?: number | undefined
  also?: unknown
}

/** Options of one journaled thing; its key is its own. */
export type CallSettings = Omit<CallOptions, 'key'>

export interface Execution<T> {
  name: string
  key: string
  /** For people; the key is the identity. */
  params: unknown
  options: CallSettings
  /** Executes it; what it throws is an outcome too. */
  perform(context: CallContext): Promise<Outcome<T>>
}

/** Where the details of a recorded failure hold the image of what was thrown. */
const thrownKey = '$thrown'

/** Executes it, or gives the outcome that is recorded. Never rejects. */
export async function journaled<T>(run: Run, execution: Execution<T>): Promise<Outcome<T>> {
  const { name, key, params, options, perform } = execution
  let live: { failure: Failure; outcome: FailedOutcome } | undefined
  const fail = (outcome: FailedOutcome): never => {
    const failure = toFailure(outcome)
    live = { failure, outcome }
    throw failure
  }
  try {
    const image = await run.call(
      name,
      params,
      async (_params, context) => {
        const outcome = await outcomeOf(() => perform(context))
        if (outcome.ok) return imageOr(fail, outcome.value, `the result of "${name}"`)
        throw keepsItself(outcome.error) ? outcome.error : fail(outcome)
      },
      { ...options, key },
    )
    return { ok: true, value: fromImage(image) as T }
  } catch (error) {
    return error === live?.failure ? (live as { outcome: FailedOutcome }).outcome : recordedFailure(error)
  }
}

async function outcomeOf<T>(perform: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await perform()
  } catch (error) {
    return { ok: false, error: readableError(error) }
  }
}

/** It has happened: what cannot be stored of it must not make it happen again. */
function imageOr(fail: (outcome: FailedOutcome) => never, value: unknown, what: string): unknown {
  try {
    return toImage(value, what)
  } catch (error) {
    return fail({ ok: false, error, retry: false })
  }
}

/** Errors that the journal itself knows how to keep and to throw again. */
function keepsItself(error: unknown): error is Error {
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
  // The image in the details is the cause, without the request that was sent.
  return storedWith(failure, { wholeDetails: true, withoutCause: true })
}

/** A failure is never lost for what hangs on the error: its text is enough. */
function thrownImage(error: unknown, message: string): unknown {
  try {
    return toImage(error, 'an error')
  } catch {
    return toImage(new Error(message), 'an error')
  }
}

/** The failure of an earlier run as it was, or the refusal of this one. */
function recordedFailure(error: unknown): FailedOutcome {
  const details = recordedDetails(error)
  if (details === undefined || !(thrownKey in details)) return { ok: false, error }
  return { ok: false, error: fromImage(details[thrownKey]), also: fromImage(details['also']) }
}

function recordedDetails(error: unknown): Record<string, unknown> | undefined {
  if (error instanceof Failure) return recordOf(error.details)
  return ErrandError.isInstance(error) ? recordOf(recordOf(error.details['error'])?.['details']) : undefined
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
}

/** Aborts with the run, with the call's own time-out, and with what the caller gave. */
export function anyOf(signal: AbortSignal, callers: AbortSignal | undefined): AbortSignal {
  return callers === undefined ? signal : AbortSignal.any([signal, callers])
}
