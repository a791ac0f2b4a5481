// The one table from the engine's words to those of HTTP: which status each code is answered with (conformance X-032).
import type { ErrorCode } from '../core/errors.ts'

/** What only this surface refuses, and the engine knows nothing of. */
export type HttpCode =
  | 'UNAUTHENTICATED'
  | 'METHOD_NOT_ALLOWED'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'BODY_TOO_LARGE'
  | 'RATE_LIMITED'
  | 'TOO_MANY_STREAMS'
  | 'KEY_IN_USE'
  | 'INTERNAL_ERROR'

export const statusOfCode: Readonly<Record<ErrorCode | HttpCode, number>> = {
  // What was sent cannot be meant like that; sent again it would be refused again.
  INVALID_INPUT: 400,
  UNKNOWN_OPTION: 400,
  UNKNOWN_EXECUTOR: 400,
  INVALID_ANSWER: 400,
  INVALID_RESULT: 400,
  INVALID_PLAN: 400,
  TYPE_MISMATCH: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  // As things stand it cannot be; they may stand otherwise later.
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
  RUN_ENDED: 409,
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
  // It was there once.
  TASK_DELETED: 410,
  CURSOR_TOO_OLD: 410,
  VERSION_CONFLICT: 412,
  BODY_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  // It went wrong here.
  EXECUTION_ERROR: 500,
  CALL_FAILED: 500,
  CALL_INTERRUPTED: 500,
  CALL_DIVERGED: 500,
  OUTCOME_UNKNOWN: 500,
  INTERNAL_ERROR: 500,
  UNSUPPORTED_RUNTIME: 500,
  LEDGER_CORRUPT: 500,
  LEDGER_FOREIGN: 500,
  LEDGER_NEWER: 500,
  LEDGER_UNTRUSTED: 500,
  LEDGER_WRITE_FAILED: 500,
  REDACT_FAILED: 500,
  NOT_OFFERED: 501,
  // Soon, perhaps.
  ENGINE_CLOSED: 503,
  LEDGER_BUSY: 503,
  LEDGER_UNAVAILABLE: 503,
  TOO_MANY_STREAMS: 503,
  TIMEOUT: 504,
}

/** After how many seconds it may be worth another try. */
export const retryAfterSeconds: Readonly<Partial<Record<ErrorCode | HttpCode, number>>> = {
  KEY_IN_USE: 1,
  LEDGER_BUSY: 1,
  LEDGER_UNAVAILABLE: 5,
  ENGINE_CLOSED: 5,
  TOO_MANY_STREAMS: 5,
}
