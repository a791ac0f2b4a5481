// Turns errors into responses of type `application/problem+json` (RFC 9457), with the engine's error code and without internals of
// the server.
import { type ErrorCode, type HttpErrorCode, httpStatusOf, statusOfCode } from '../../core/error-codes.ts'
import { ErrandError, Failure } from '../../core/errors.ts'
import type { Answer } from './answer.ts'
import { tooManyInvalidCredentials } from './credentials.ts'
import { publicError } from './public-error.ts'

export interface Problem {
  /** `urn:errand:error:` and the code. */
  type: string
  /** The code as a phrase, like `Invalid input`. */
  title: string
  status: number
  /** What happened, why, and what would work. */
  detail: string
  /** For programs: an error code of the engine, or of this surface. */
  code: string
  /** The ids and values seen. */
  details: unknown
}

/** A refusal by this surface, thrown and then sent as a problem. `status` overrides the status of the code. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: string
  readonly status: number
  readonly details: Record<string, unknown>
  readonly headers: Record<string, string>

  constructor(
    code: keyof typeof statusOfCode,
    message: string,
    more: { status?: number; details?: Record<string, unknown>; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.code = code
    this.status = more.status ?? statusOfCode[code]
    this.details = more.details ?? {}
    this.headers = more.headers ?? {}
  }
}

/** 401, or 429 when the client has sent too many invalid credentials and must wait. */
export function unauthenticated(waitSeconds = 0): Refusal {
  if (waitSeconds > 0) {
    return new Refusal('RATE_LIMITED', tooManyInvalidCredentials(waitSeconds), { headers: retryAfter(waitSeconds) })
  }
  return new Refusal('UNAUTHENTICATED', 'Credentials are required. Send them as `Authorization: Bearer …`.', {
    headers: { 'www-authenticate': 'Bearer realm="errand"' },
  })
}

export function retryAfter(seconds: number): Record<string, string> {
  return { 'retry-after': String(Math.ceil(seconds)) }
}

/** @param methods that the path supports. */
export function methodNotAllowed(methods: readonly string[]): Refusal {
  const allow = methods.join(', ')
  return new Refusal('METHOD_NOT_ALLOWED', `This path supports ${allow}.`, {
    details: { allow: methods },
    headers: { allow },
  })
}

/** A 400 for an invalid header. */
export function refusedHeader(header: string, message: string): Refusal {
  return new Refusal('INVALID_INPUT', message, { details: { header } })
}

const internal: HttpErrorCode = 'INTERNAL_ERROR'

/** Converts what was thrown to the public part of it. Internal errors are passed to `report` and answered with 500. */
export function problemOf(thrown: unknown, report: (error: unknown) => void): Problem {
  if (thrown instanceof Refusal) return toProblem(thrown.code, thrown.status, thrown.message, thrown.details)
  if (!ErrandError.isInstance(thrown) || isForeign(thrown)) {
    if (!isAborted(thrown)) report(thrown)
    return toProblem(
      internal,
      statusOfCode[internal],
      'Internal error. The operator of the server can see the cause.',
      {},
    )
  }
  const { code, message, details = {} } = publicError(thrown)
  const status = httpStatusOf(thrown.code)
  if (status >= 500) report(thrown)
  return toProblem(code, status, message, details)
}

/** The answer that states the problem. */
export function problemAnswer(thrown: unknown, report: (error: unknown) => void): Answer {
  const problem = problemOf(thrown, report)
  const seconds = retryAfterSeconds[problem.code as keyof typeof retryAfterSeconds]
  return {
    status: problem.status,
    headers: {
      'content-type': 'application/problem+json',
      ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }),
      ...(thrown instanceof Refusal ? thrown.headers : {}),
    },
    body: JSON.stringify(problem),
  }
}

/** True for an error of the user's code that is neither a refusal nor a `Failure`; its details are not for clients. */
function isForeign({ code, cause }: ErrandError): boolean {
  return (
    code === 'EXECUTION_ERROR' && cause !== undefined && !(cause instanceof Failure) && !ErrandError.isInstance(cause)
  )
}

/** True when the client aborted the request: nothing is answered or reported. */
function isAborted(thrown: unknown): boolean {
  return ErrandError.isInstance(thrown) && thrown.details['aborted'] === true
}

function toProblem(code: string, status: number, detail: string, details: unknown): Problem {
  const phrase = code.toLowerCase().replaceAll('_', ' ')
  const title = phrase.charAt(0).toUpperCase() + phrase.slice(1)
  return { type: `urn:errand:error:${code}`, title, status, detail, code, details }
}

/** The value of `Retry-After`, in seconds. */
const retryAfterSeconds: Readonly<Partial<Record<ErrorCode | HttpErrorCode, number>>> = {
  RATE_LIMITED: 1,
  KEY_IN_USE: 1,
  LEDGER_BUSY: 1,
  LEDGER_UNAVAILABLE: 5,
  ENGINE_CLOSED: 5,
  TOO_MANY_STREAMS: 5,
}
