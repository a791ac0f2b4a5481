// The codes of errors, each with its cause and its remedy. `npm run reference` makes docs/reference/errors.md of them.

interface ErrorDescription {
  /** What happened, or why the operation is refused. */
  readonly cause: string
  /** What would work. */
  readonly remedy: string
}

/** Codes never change their meaning, and none is used again for something else. */
export const errorCodes = {
  INVALID_TRANSITION: {
    cause: 'The state of the task does not allow the operation.',
    remedy:
      'The error lists the operations that the state allows. Read the task again: another caller may have changed it.',
  },
  INVALID_INPUT: {
    cause: 'A value that was passed in has the wrong type, shape or size.',
    remedy: 'The error names the path of the value and what was expected there. Correct it and call again.',
  },
  NOT_FOUND: {
    cause: 'No task, agent, question or other object has this id.',
    remedy: 'Check the id, and that the task is in this ledger and within what the caller may see.',
  },
  UNKNOWN_OPTION: {
    cause: 'There is no option with this name.',
    remedy: 'Use the most similar name, which the error suggests, or leave the option out.',
  },
  UNKNOWN_EXECUTOR: {
    cause: 'No executor has this name.',
    remedy:
      'Pass the executor to `createEngine`, or correct the name. An engine without any executors may name those of other processes.',
  },
  KEY_CONFLICT: {
    cause: 'The key belongs to a task that was created with other options.',
    remedy: 'Use another key for other work. To get the first task, create it with the same options as then.',
  },
  PARENT_CLOSED: {
    cause: 'The parent is completed, or it or a task above it is canceled, so it takes no more children.',
    remedy: 'Create the task without a parent, or below a new one.',
  },
  BLOCKED: {
    cause: 'The task waits for tasks that are not completed.',
    remedy: 'Complete these tasks first, or remove the dependency (`unblock`).',
  },
  CYCLE: {
    cause: 'The dependency would make a task wait for itself.',
    remedy: 'The error lists the tasks of the circle. Remove one of the dependencies between them first.',
  },
  HAS_CHILDREN: {
    cause: "The task has children, and `children: 'refuse'` keeps it from being deleted with them.",
    remedy: 'Say `promote` to make them roots, or `cascade` to delete them too.',
  },
  HAS_EXECUTOR: {
    cause:
      'The task is a group or has an executor, which decides how it ends. It cannot be completed or failed by hand.',
    remedy: 'Let it end by itself, or cancel it.',
  },
  NOT_OWNER: {
    cause: 'Another owner has claimed the task.',
    remedy: 'Work on another task, or wait until the claim is released or its lease is over.',
  },
  STALE_CLAIM: {
    cause: 'The claim has ended: its number is not the number of the current claim.',
    remedy: 'Stop the work, since another owner may have begun it, and claim the task again.',
  },
  VERSION_CONFLICT: {
    cause: 'The task has changed since it was read.',
    remedy: 'Read it again, and repeat the operation with its new version.',
  },
  NOT_CLAIMABLE: {
    cause: 'The task is not free to be claimed.',
    remedy:
      'The error says why: it has an owner, is blocked, or has an executor. Without an id, `claim` takes the best free task.',
  },
  LIMIT_EXCEEDED: {
    cause: 'The operation would exceed a limit on a size or a number.',
    remedy: 'The error names the limit and says how to stay within it.',
  },
  RATE_LIMITED: {
    cause: 'The caller has too many requests waiting, or sent too many in a short time.',
    remedy: 'Wait and repeat the request. Over HTTP, `retry-after` says how long.',
  },
  PURGED: {
    cause:
      'A purge is removing the task with its family. It can still be read as far as it is left, but nothing of it changes, and nothing is added below it or made to come after it.',
    remedy: 'Create a new task.',
  },
  CURSOR_TOO_OLD: {
    cause: 'The events after this position have been purged.',
    remedy: 'Read the state again, and follow the events from there.',
  },
  CURSOR_AHEAD: {
    cause:
      'The position is beyond the last event: the ledger was replaced by an older copy, or the position is that of another ledger.',
    remedy: 'Begin anew without it: read the state again, and follow the events from there.',
  },
  RUN_ENDED: {
    cause:
      'The run has ended, because its task was paused, canceled or timed out or its engine closes, so its further requests are refused.',
    remedy: 'Let the error pass, so that the executor ends. A later run continues the task.',
  },
  WITHDRAWN: {
    cause: 'Another request of the same race was over first.',
    remedy: 'Await the race, not its single requests.',
  },
  NO_QUESTION: {
    cause: 'The task has no open question.',
    remedy: 'Read the task: the question may be answered, timed out or withdrawn.',
  },
  INVALID_ANSWER: {
    cause: 'The answer does not match the schema of the question.',
    remedy: 'The question stays open. Answer again with a value that matches; the error says what does not.',
  },
  INVALID_SIGNAL: {
    cause: 'The payload of the signal does not match the schema of the wait for it.',
    remedy:
      'Send it again as the schema wants it. If the signal came before the wait, the wait throws this error; catch it to wait for the next one.',
  },
  INVALID_RESULT: {
    cause:
      'The result of the executor does not match its schema, or cannot be stored; or a call was made and its result could not be recorded (`resultLost`). A part that is lost or changed is only reported to `onError`.',
    remedy:
      'Return JSON that fits the schema, at most 4 MiB. To make a call again whose result is lost, retry the task with `repeat`.',
  },
  CALL_FAILED: {
    cause: 'The recorded error of a call that threw an error without a code.',
    remedy: 'The executor gets the error itself. Look at its message and its cause.',
  },
  CALL_INTERRUPTED: {
    cause: 'A crash, or the end of its run, interrupted a call. The call may have taken effect.',
    remedy:
      "Find out whether it did, for example with its `identity` at the other service. If a repetition is harmless, set `onInterrupt: 'rerun'`.",
  },
  CALL_DIVERGED: {
    cause:
      'A later run made a call that the journal does not contain, and did not repeat all calls that the journal contains.',
    remedy:
      "Make the params of calls the same in each run. If the code has changed on purpose, retry the task with `divergence: 'allow'`.",
  },
  TASK_FAILED: {
    cause: 'The task failed. The cause of this error is the error of the executor.',
    remedy: 'Look at the cause. `retry` begins another attempt, which keeps the results of completed calls.',
  },
  TASK_CANCELED: {
    cause: 'The task was canceled.',
    remedy: 'A canceled task is final. Create a new one.',
  },
  TASK_DELETED: {
    cause: 'The task was deleted.',
    remedy: 'Create a new one.',
  },
  TIMEOUT: {
    cause: 'The operation, the run or the task did not end in time.',
    remedy: 'Give it more time (`timeoutMs`, `deadline`), or find out with `why` what it waits for.',
  },
  POISONED: {
    cause:
      'Several runs of the task in succession ended in a crash of their process, so the task is not started again.',
    remedy:
      'Look for what ends the process, such as a lack of memory, in the call that was in progress. Then retry the task.',
  },
  CHILD_FAILED: {
    cause: 'A child of the task failed, so the task fails too; or a task that a run waits for failed or was canceled.',
    remedy:
      "Retry the child, which reopens a failed group; retry a parent with an executor itself. `onChildFailure: 'ignore'` and `run.wait` with `settled: true` let a parent go on.",
  },
  GROUP_STUCK: {
    cause: 'No child of the group can run, because each waits for one that failed or was canceled.',
    remedy: 'Retry the child that failed, which reopens the group, or remove the dependency on the canceled one.',
  },
  ENGINE_CLOSED: {
    cause: 'The engine, the server or the session is closed.',
    remedy: 'Open a new engine on the same ledger, or send the request to another process.',
  },
  OUTCOME_UNKNOWN: {
    cause: 'A commit failed, and it is not known whether it was stored.',
    remedy: 'Read the state before you repeat the operation, or repeat it with the same `key`.',
  },
  UNSUPPORTED_RUNTIME: {
    cause: 'This version of Node, or of SQLite, is too old.',
    remedy: 'Install Node 22.14 or newer, and the versions of the packages that errand depends on.',
  },
  LEDGER_BUSY: {
    cause: 'Another process has held the lock of the ledger for too long.',
    remedy: 'Repeat the operation. If it goes on, look for a process that is stopped in the middle of a commit.',
  },
  LEDGER_CORRUPT: {
    cause: 'The file of the ledger, or a row in it, is damaged.',
    remedy: '`errand ledger check` lists what is damaged. Restore a backup with `errand ledger restore`.',
  },
  LEDGER_EXISTS: {
    cause: 'There already is a ledger or another file where a copy of a ledger should be.',
    remedy: 'Name another place, or move that file away.',
  },
  LEDGER_FOREIGN: {
    cause: 'The file or database is not a ledger.',
    remedy: 'Name the file of the ledger, or a new one. On a server, use a schema of its own.',
  },
  LEDGER_UNAVAILABLE: {
    cause: 'The ledger cannot be opened, read or reached, or its file was removed, moved or replaced.',
    remedy: 'Check the path, the rights and the server, and open the engine again.',
  },
  LEDGER_UNTRUSTED: {
    cause: 'The ledger was found by a search, and this user has neither created nor trusted it.',
    remedy: 'If you know where it comes from, run `errand trust`. A ledger that `--ledger` names is not checked.',
  },
  LEDGER_VERSION: {
    cause: 'Another version of errand made the ledger, or its schema was changed by another program.',
    remedy:
      'Use the version that made it, or a newer one, which upgrades it. If another program has changed it, restore a backup.',
  },
  LEDGER_WRITE_FAILED: {
    cause: 'The database refused to write. Nothing of the transaction is stored.',
    remedy: 'The cause names the reason, such as a full disk. Remove it and repeat the operation.',
  },
  REDACT_FAILED: {
    cause: 'The `redact` hook threw an error or returned no valid value. Nothing is stored.',
    remedy: 'Mend the hook: it returns a value for each value, and never throws.',
  },
  EXECUTION_ERROR: {
    cause: 'The handler of an ability or the code of an executor threw an error.',
    remedy: 'Look at the cause of the error.',
  },
  TYPE_MISMATCH: {
    cause: 'A streaming ability was called as a plain one, or the other way round.',
    remedy: 'Use `bus.stream` for streams, and `bus.call` for others.',
  },
  ALREADY_REGISTERED: {
    cause: 'An ability or a model with this name is already registered.',
    remedy: 'Choose another name, or leave the second registration out.',
  },
  FORBIDDEN: {
    cause: 'The caller does not have the right to do this.',
    remedy: 'The error says which right is missing. Use credentials with it, or let a person or the program do it.',
  },
  NO_MODEL: {
    cause: 'No model is configured for the agent, or no model is offered under the given name.',
    remedy: 'Give `createEngine` a `model`, or the command line `--model`, or name one that is offered.',
  },
  NOT_OFFERED: {
    cause: 'The operation needs an optional package that is not installed, or an option that is not set.',
    remedy: 'The error names the package or the option.',
  },
  INVALID_PLAN: {
    cause: 'The plan file is not valid.',
    remedy: 'The error names the line and the column, and what would be right there.',
  },
  ALREADY_ACTIVE: {
    cause: 'The agent is already a member of the team.',
    remedy: 'Go on working, or complete the agent first.',
  },
  NOT_ACTIVE: {
    cause: 'The agent is not a member of the team, or has completed its work.',
    remedy: 'Let it join first (`agent:join`).',
  },
  AGENTS_ACTIVE: {
    cause: 'Agents of the team are still active.',
    remedy: "Complete them, or call `task:complete` with `agents: 'complete'`.",
  },
  OBJECTIVES_OPEN: {
    cause: 'Objectives of the task are still open.',
    remedy: 'Set them to `done`, or complete the task without `requireObjectives`.',
  },
  BRANCH_CLOSED: {
    cause: 'The memory branch is archived: it can be read, but nothing can be added to it.',
    remedy: 'Add to the branch above it.',
  },
} as const satisfies Record<string, ErrorDescription>

/** What went wrong, in one word that programs can rely on. */
export type ErrorCode = keyof typeof errorCodes

/** Codes that only answers over HTTP have. */
export const httpErrorCodes = {
  UNAUTHENTICATED: {
    cause: 'The request has no valid credentials.',
    remedy: 'Send the token in the header `authorization: Bearer …`.',
  },
  METHOD_NOT_ALLOWED: {
    cause: 'The path does not support this method.',
    remedy: 'The header `allow` lists the methods that it supports.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    cause: 'The body is not JSON.',
    remedy: 'Send JSON with the header `content-type: application/json`.',
  },
  BODY_TOO_LARGE: {
    cause: 'The body is larger than the server accepts.',
    remedy: 'Send less, or the place where the data is.',
  },
  TOO_MANY_STREAMS: {
    cause: 'The client, or all clients together, have too many streams open.',
    remedy: 'Close streams that nothing reads, and open this one later.',
  },
  KEY_IN_USE: {
    cause: 'A request with the same `idempotency-key` is still being handled.',
    remedy: 'Wait for its answer, or repeat the request later with the same key.',
  },
  INTERNAL_ERROR: {
    cause: 'The server failed.',
    remedy: 'Its log says why.',
  },
} as const satisfies Record<string, ErrorDescription>

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
