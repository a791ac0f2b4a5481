// The exit codes of the command line, and the exit code of each error code. Scripts rely on these numbers: they never change.
import { ErrandError, type ErrorCode } from '../../core/errors.ts'

export const exitCodes = {
  done: 0,
  /** Something failed, was canceled, or is blocked by a failed or canceled task. */
  failed: 1,
  /** Wrong usage or input; nothing was changed. */
  badInput: 2,
  /** Nothing failed, but a task needs an answer, a resume or a claim. */
  open: 3,
  interrupted: 130,
} as const

/**
 * `badInput` for a wrong request, `failed` for other errors, including claims that another client holds. Lists every code, so that a
 * new one must be added here.
 */
const codeOf: Readonly<Record<ErrorCode, 1 | 2>> = {
  INVALID_TRANSITION: exitCodes.badInput,
  INVALID_INPUT: exitCodes.badInput,
  NOT_FOUND: exitCodes.badInput,
  UNKNOWN_OPTION: exitCodes.badInput,
  UNKNOWN_EXECUTOR: exitCodes.badInput,
  KEY_CONFLICT: exitCodes.badInput,
  PARENT_CLOSED: exitCodes.badInput,
  BLOCKED: exitCodes.badInput,
  CYCLE: exitCodes.badInput,
  HAS_CHILDREN: exitCodes.badInput,
  HAS_EXECUTOR: exitCodes.badInput,
  WITHDRAWN: exitCodes.badInput,
  NO_QUESTION: exitCodes.badInput,
  INVALID_ANSWER: exitCodes.badInput,
  INVALID_SIGNAL: exitCodes.badInput,
  TASK_DELETED: exitCodes.badInput,
  PURGED: exitCodes.badInput,
  UNSUPPORTED_RUNTIME: exitCodes.badInput,
  LEDGER_EXISTS: exitCodes.badInput,
  LEDGER_FOREIGN: exitCodes.badInput,
  LEDGER_VERSION: exitCodes.badInput,
  NO_MODEL: exitCodes.badInput,
  NOT_OFFERED: exitCodes.badInput,
  INVALID_PLAN: exitCodes.badInput,
  ALREADY_ACTIVE: exitCodes.badInput,
  NOT_ACTIVE: exitCodes.badInput,
  AGENTS_ACTIVE: exitCodes.badInput,
  OBJECTIVES_OPEN: exitCodes.badInput,
  BRANCH_CLOSED: exitCodes.badInput,
  NOT_OWNER: exitCodes.failed,
  STALE_CLAIM: exitCodes.failed,
  VERSION_CONFLICT: exitCodes.failed,
  NOT_CLAIMABLE: exitCodes.failed,
  LIMIT_EXCEEDED: exitCodes.failed,
  RATE_LIMITED: exitCodes.failed,
  CURSOR_TOO_OLD: exitCodes.failed,
  CURSOR_AHEAD: exitCodes.failed,
  RUN_ENDED: exitCodes.failed,
  INVALID_RESULT: exitCodes.failed,
  CALL_FAILED: exitCodes.failed,
  CALL_INTERRUPTED: exitCodes.failed,
  CALL_DIVERGED: exitCodes.failed,
  TASK_FAILED: exitCodes.failed,
  TASK_CANCELED: exitCodes.failed,
  TIMEOUT: exitCodes.failed,
  POISONED: exitCodes.failed,
  CHILD_FAILED: exitCodes.failed,
  GROUP_STUCK: exitCodes.failed,
  ENGINE_CLOSED: exitCodes.failed,
  OUTCOME_UNKNOWN: exitCodes.failed,
  LEDGER_BUSY: exitCodes.failed,
  LEDGER_CORRUPT: exitCodes.failed,
  LEDGER_UNAVAILABLE: exitCodes.failed,
  LEDGER_UNTRUSTED: exitCodes.failed,
  LEDGER_WRITE_FAILED: exitCodes.failed,
  REDACT_FAILED: exitCodes.failed,
  EXECUTION_ERROR: exitCodes.failed,
  TYPE_MISMATCH: exitCodes.failed,
  ALREADY_REGISTERED: exitCodes.failed,
  FORBIDDEN: exitCodes.failed,
}

/** The exit code of any thrown value. */
export function exitCodeOf(error: unknown): number {
  // An error of another copy of the package may have an unknown code.
  return ErrandError.isInstance(error) ? (codeOf[error.code] ?? exitCodes.failed) : exitCodes.failed
}
