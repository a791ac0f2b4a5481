// The codes of errors, each with the one line that documents it. The reference in docs/reference/errors.md is made from this list.

/** Codes never change their meaning, and none is used again for something else. */
export const errorCodes = {
  INVALID_TRANSITION:
    'The state of the task does not allow the operation. The error lists the operations that it allows.',
  INVALID_INPUT: 'A value that was passed in has the wrong type, shape or size. The error names its path.',
  NOT_FOUND: 'No task, agent, question or other object has this id.',
  UNKNOWN_OPTION: 'There is no option with this name. The error suggests the most similar name.',
  UNKNOWN_EXECUTOR: 'No executor has this name.',
  KEY_CONFLICT: 'The key belongs to a task that was created with other options.',
  PARENT_CLOSED: 'The parent is completed, or it or a task above it is canceled, so it takes no more children.',
  BLOCKED: 'The task waits for tasks that are not completed.',
  CYCLE: 'The dependency would make a task wait for itself.',
  HAS_CHILDREN: 'The task has children. Say whether they are to be deleted with it or to become roots.',
  HAS_EXECUTOR:
    'The task is a group or has an executor, which decides how it ends. It cannot be completed or failed by hand.',
  NOT_OWNER: 'Another owner has claimed the task.',
  STALE_CLAIM: 'The claim has ended: its number is not the number of the current claim.',
  VERSION_CONFLICT: 'The task has changed since it was read. Read it again and repeat the operation.',
  NOT_CLAIMABLE: 'The task is not free to be claimed.',
  LIMIT_EXCEEDED:
    'The operation would exceed a limit on a size or a number. The error names the limit and says how to stay within it.',
  RATE_LIMITED:
    'The caller has too many requests waiting, or sent too many in a short time. Over HTTP, `retry-after` says how long to wait.',
  PURGED:
    'A purge is removing the task with its family. It can still be read as far as it is left, but nothing of it changes, and nothing is added below it or made to come after it.',
  CURSOR_TOO_OLD:
    'The events after this position have been purged. Read the state again and follow the events from there.',
  CURSOR_AHEAD:
    'The position is beyond the last event: the ledger was replaced by an older copy, or the position is that of another ledger. Begin anew without it: read the state again and follow the events from there.',
  RUN_ENDED: 'The run has ended, so its further requests are refused.',
  WITHDRAWN: 'Another request of the same race was over first.',
  NO_QUESTION: 'The task has no open question.',
  INVALID_ANSWER: 'The answer does not match the schema of the question.',
  INVALID_SIGNAL: 'The payload of the signal does not match the schema of the wait for it.',
  INVALID_RESULT:
    'The result of the executor does not match its schema, or cannot be stored; or a call was made and its result could not be recorded (`resultLost`). A part that is lost or changed is only reported to `onError`.',
  CALL_FAILED: 'The recorded error of a call that threw an error without a code. The executor gets the error itself.',
  CALL_INTERRUPTED: 'A crash, or the end of its run, interrupted a call. The call may have taken effect.',
  CALL_DIVERGED:
    'A later run made a call that the journal does not contain, and did not repeat all calls that the journal contains.',
  TASK_FAILED: 'The task failed. The cause of this error is the error of the executor.',
  TASK_CANCELED: 'The task was canceled.',
  TASK_DELETED: 'The task was deleted.',
  TIMEOUT: 'The operation, the run or the task did not end in time.',
  POISONED:
    'Several runs of the task in succession ended in a crash of their process, so the task is not started again.',
  CHILD_FAILED: 'A child of the task failed, so the task fails too.',
  GROUP_STUCK: 'No child of the group can run, because each waits for one that failed or was canceled.',
  ENGINE_CLOSED: 'The engine, the server or the session is closed.',
  OUTCOME_UNKNOWN:
    'A commit failed, and it is not known whether it was stored. Read the state before you repeat the operation.',
  UNSUPPORTED_RUNTIME: 'This version of Node is too old for the SQLite driver.',
  LEDGER_BUSY: 'Another process has held the lock of the ledger for too long. The operation can be repeated.',
  LEDGER_CORRUPT: 'The file of the ledger, or a row in it, is damaged.',
  LEDGER_EXISTS: 'There already is a ledger or another file where a copy of a ledger should be.',
  LEDGER_FOREIGN: 'The file or database is not a ledger.',
  LEDGER_UNAVAILABLE: 'The ledger cannot be opened, read or reached, or its file was removed, moved or replaced.',
  LEDGER_UNTRUSTED:
    'The ledger was found by a search, and this user has neither created nor trusted it. If you trust it, run `errand trust`.',
  LEDGER_VERSION: 'Another version of errand made the ledger, or its schema was changed by another program.',
  LEDGER_WRITE_FAILED: 'The database refused to write. Nothing of the transaction is stored.',
  REDACT_FAILED: 'The `redact` hook threw an error or returned no valid value. Nothing is stored.',
  EXECUTION_ERROR: 'The handler of an ability or the code of an executor threw an error.',
  TYPE_MISMATCH: 'A streaming ability was called as a plain one, or the other way round.',
  ALREADY_REGISTERED: 'An ability or a model with this name is already registered.',
  FORBIDDEN: 'The caller does not have the right to do this.',
  NO_MODEL: 'No model is configured for the agent, or no model is offered under the given name.',
  NOT_OFFERED: 'The operation needs an optional package that is not installed, or an option that is not set.',
  INVALID_PLAN: 'The plan file is not valid. The error names the line and the column.',
  ALREADY_ACTIVE: 'The agent is already a member of the team.',
  NOT_ACTIVE: 'The agent is not a member of the team, or has completed its work.',
  AGENTS_ACTIVE: 'Agents of the team are still active.',
  OBJECTIVES_OPEN: 'Objectives of the task are still open.',
  BRANCH_CLOSED: 'The memory branch is archived: it can be read, but nothing can be added to it.',
} as const satisfies Record<string, string>

/** What went wrong, in one word that programs can rely on. */
export type ErrorCode = keyof typeof errorCodes

/** Codes that only answers over HTTP have. */
export const httpErrorCodes = {
  UNAUTHENTICATED: 'The request has no valid credentials.',
  METHOD_NOT_ALLOWED: 'The path does not support this method. The header `allow` lists the methods that it supports.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not JSON.',
  BODY_TOO_LARGE: 'The body is larger than the server accepts.',
  TOO_MANY_STREAMS: 'The client, or all clients together, have too many streams open.',
  KEY_IN_USE: 'A request with the same `idempotency-key` is still being handled.',
  INTERNAL_ERROR: 'The server failed. Its log says why.',
} as const satisfies Record<string, string>

export type HttpErrorCode = keyof typeof httpErrorCodes

/** The HTTP status with which each code is answered. */
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

/** 500 for a code that this copy of the package does not define. */
export function httpStatusOf(code: string): number {
  return Object.hasOwn(statusOfCode, code) ? statusOfCode[code as keyof typeof statusOfCode] : 500
}
