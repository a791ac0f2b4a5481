// Refusals and failures as they are answered: `application/problem+json` (RFC 9457) with the engine's own code, and nothing of how
// or where this server runs.

import type { HttpErrorCode } from '../core/error-codes.ts'
import { ErrandError, Failure } from '../core/errors.ts'
import { tooManyWrong } from '../web/credentials.ts'
import { publicError } from './public-error.ts'
import { retryAfterSeconds, statusOfCode } from './status-codes.ts'

export interface Problem {
  /** `urn:errand:error:` and the code. */
  type: string
  /** The code in small letters. */
  title: string
  status: number
  /** What happened, why, and what would work. */
  detail: string
  /** What programs go by: a code of the engine, or one of this surface. */
  code: string
  /** The ids and values seen. */
  details: unknown
}

/** A refusal of this surface, thrown to be answered. `status` only where the code's own would say something else. */
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

/** To somebody unknown: 401, or 429 for whoever has been wrong too often and is to wait so long. */
export function unauthenticated(waitSeconds = 0): Refusal {
  if (waitSeconds > 0) {
    return new Refusal('RATE_LIMITED', tooManyWrong(waitSeconds), { headers: retryAfter(waitSeconds) })
  }
  return new Refusal('UNAUTHENTICATED', 'Credentials are needed: send them as `Authorization: Bearer …`.', {
    headers: { 'www-authenticate': 'Bearer realm="errand"' },
  })
}

export function retryAfter(seconds: number): Record<string, string> {
  return { 'retry-after': String(Math.ceil(seconds)) }
}

/** `methods` are what the path takes. */
export function methodNotAllowed(methods: readonly string[]): Refusal {
  const allow = methods.join(', ')
  return new Refusal('METHOD_NOT_ALLOWED', `This path takes ${allow}.`, {
    details: { allow: methods },
    headers: { allow },
  })
}

/** A header that cannot be taken as it is. */
export function refusedHeader(header: string, message: string): Refusal {
  return new Refusal('INVALID_INPUT', message, { details: { header } })
}

const internal: HttpErrorCode = 'INTERNAL_ERROR'

/** What a client may know of what was thrown. What it may not is told to `report`. */
export function problemOf(thrown: unknown, report: (error: unknown) => void): Problem {
  if (thrown instanceof Refusal) return toProblem(thrown.code, thrown.status, thrown.message, thrown.details)
  if (!ErrandError.isInstance(thrown) || isForeign(thrown)) {
    if (!isAborted(thrown)) report(thrown)
    return toProblem(internal, statusOfCode[internal], 'Internal error. Whoever runs the server can see why.', {})
  }
  const { code, message, details = {} } = publicError(thrown)
  const status = statusOf(thrown.code)
  if (status >= 500) report(thrown)
  return toProblem(code, status, message, details)
}

/** The same as an answer. */
export function problemAnswer(thrown: unknown, report: (error: unknown) => void): Response {
  const problem = problemOf(thrown, report)
  const seconds = retryAfterSeconds[problem.code as keyof typeof retryAfterSeconds]
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      'content-type': 'application/problem+json',
      ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }),
      ...(thrown instanceof Refusal ? thrown.headers : {}),
    },
  })
}

/** A code that another copy of the package has, and this one does not know, is a failure like any other. */
function statusOf(code: string): number {
  return Object.hasOwn(statusOfCode, code) ? statusOfCode[code as keyof typeof statusOfCode] : 500
}

/** Thrown by somebody's code and not to be read by clients: an error that is neither a refusal nor a `Failure`. */
function isForeign({ code, cause }: ErrandError): boolean {
  return (
    code === 'EXECUTION_ERROR' && cause !== undefined && !(cause instanceof Failure) && !ErrandError.isInstance(cause)
  )
}

/** Its client has let go: nobody hears of it, and nothing is wrong. */
function isAborted(thrown: unknown): boolean {
  return ErrandError.isInstance(thrown) && thrown.details['aborted'] === true
}

function toProblem(code: string, status: number, detail: string, details: unknown): Problem {
  const words = code.toLowerCase().replaceAll('_', ' ')
  const title = words.charAt(0).toUpperCase() + words.slice(1)
  return { type: `urn:errand:error:${code}`, title, status, detail, code, details }
}
