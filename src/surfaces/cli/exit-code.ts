// What the command line's exit codes mean, and which one an error becomes. Scripts rely on these numbers: they never
// change.
import { ErrandError, type ErrorCode } from '../../errors.ts'

export const exitCodes = {
  done: 0,
  /** Something failed, was canceled, or is blocked by such. */
  failed: 1,
  /** Bad usage or bad input; nothing was changed. */
  badInput: 2,
  /** Nothing failed, but somebody must answer or resume something. */
  open: 3,
  interrupted: 130,
} as const

/** Errors that say the request was wrong, not the world. A claim that somebody else has, or has by now, is the world's doing. */
const badInput: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'INVALID_TRANSITION',
  'INVALID_INPUT',
  'NOT_FOUND',
  'UNKNOWN_OPTION',
  'UNKNOWN_EXECUTOR',
  'KEY_CONFLICT',
  'PARENT_CLOSED',
  'BLOCKED',
  'CYCLE',
  'HAS_CHILDREN',
  'HAS_EXECUTOR',
  'NO_QUESTION',
  'INVALID_ANSWER',
  'TASK_DELETED',
  'UNSUPPORTED_RUNTIME',
  'LEDGER_FOREIGN',
  'LEDGER_NEWER',
  'NOT_OFFERED',
  'INVALID_PLAN',
  'NO_MODEL',
  'ALREADY_ACTIVE',
  'NOT_ACTIVE',
  'AGENTS_ACTIVE',
  'OBJECTIVES_OPEN',
  'BRANCH_CLOSED',
])

/** The exit code of whatever was thrown. */
export function exitCodeOf(error: unknown): number {
  return ErrandError.isInstance(error) && badInput.has(error.code) ? exitCodes.badInput : exitCodes.failed
}
