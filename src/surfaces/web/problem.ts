// Turns errors into responses of type `application/problem+json` (RFC 9457), with the engine's error code and without internals of
// the server.
import type { ErrorCode, HttpErrorCode } from '../../core/error-codes.ts'
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
  const status = statusOf(thrown.code)
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

/** 500 for a code that this copy of the package does not define. */
function statusOf(code: string): number {
  return Object.hasOwn(statusOfCode, code) ? statusOfCode[code as keyof typeof statusOfCode] : 500
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

// Maps each error code to the HTTP status that it is answered with.

export const statusOfCode: Readonly<Record<ErrorCode | HttpErrorCode, number>> = {
  // The request is invalid; sending it again fails again.
  INVALID_INPUT: 400,
  UNKNOWN_OPTION: 400,
  UNKNOWN_EXECUTOR: 400,
  INVALID_ANSWER: 400,
  INVALID_SIGNAL: 400,
  INVALID_RESULT: 400,
  INVALID_PLAN: 400,
  TYPE_MISMATCH: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  // The request conflicts with the current state; it may succeed later.
  INVALID_TRANSITION: 409,
  KEY_CONFLICT: 409,
  KEY_IN_USE: 409,
  PARENT_CLOSED: 409,
  BLOCKED: 409,
  CYCLE: 409,
  HAS_CHILDREN: 409,
  HAS_EXECUTOR: 409,
  NOT_OWNER: 409,
  STALE_CLAIM: 409,
  NOT_CLAIMABLE: 409,
  LIMIT_EXCEEDED: 409,
  CURSOR_AHEAD: 409,
  RUN_ENDED: 409,
  WITHDRAWN: 409,
  NO_QUESTION: 409,
  TASK_FAILED: 409,
  TASK_CANCELED: 409,
  POISONED: 409,
  CHILD_FAILED: 409,
  GROUP_STUCK: 409,
  ALREADY_REGISTERED: 409,
  ALREADY_ACTIVE: 409,
  NOT_ACTIVE: 409,
  AGENTS_ACTIVE: 409,
  OBJECTIVES_OPEN: 409,
  BRANCH_CLOSED: 409,
  NO_MODEL: 409,
  // The resource existed once.
  TASK_DELETED: 410,
  PURGED: 410,
  CURSOR_TOO_OLD: 410,
  VERSION_CONFLICT: 412,
  BODY_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  // The server failed.
  EXECUTION_ERROR: 500,
  CALL_FAILED: 500,
  CALL_INTERRUPTED: 500,
  CALL_DIVERGED: 500,
  OUTCOME_UNKNOWN: 500,
  INTERNAL_ERROR: 500,
  UNSUPPORTED_RUNTIME: 500,
  LEDGER_CORRUPT: 500,
  LEDGER_EXISTS: 500,
  LEDGER_FOREIGN: 500,
  LEDGER_VERSION: 500,
  LEDGER_UNTRUSTED: 500,
  LEDGER_WRITE_FAILED: 500,
  REDACT_FAILED: 500,
  NOT_OFFERED: 501,
  // Temporarily unavailable.
  ENGINE_CLOSED: 503,
  LEDGER_BUSY: 503,
  LEDGER_UNAVAILABLE: 503,
  TOO_MANY_STREAMS: 503,
  TIMEOUT: 504,
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
