// The one error class of the engine and the closed union of its codes. Every refusal, on every surface, is one of these:
// what happened with the ids and values seen, why, and what would work. Codes are words and never change their meaning.
import { storableText } from './storable-text.ts'

/** What went wrong, in one word that programs can rely on. */
export type ErrorCode =
  | 'INVALID_TRANSITION'
  | 'INVALID_INPUT'
  | 'NOT_FOUND'
  | 'UNKNOWN_OPTION'
  | 'UNKNOWN_EXECUTOR'
  | 'KEY_CONFLICT'
  | 'PARENT_CLOSED'
  | 'BLOCKED'
  | 'CYCLE'
  | 'HAS_CHILDREN'
  | 'HAS_EXECUTOR'
  | 'NOT_OWNER'
  | 'STALE_CLAIM'
  | 'VERSION_CONFLICT'
  | 'NOT_CLAIMABLE'
  | 'LIMIT_EXCEEDED'
  | 'CURSOR_TOO_OLD'
  | 'RUN_ENDED'
  | 'NO_QUESTION'
  | 'INVALID_ANSWER'
  | 'INVALID_RESULT'
  | 'CALL_FAILED'
  | 'CALL_INTERRUPTED'
  | 'CALL_DIVERGED'
  | 'TASK_FAILED'
  | 'TASK_CANCELED'
  | 'TASK_DELETED'
  | 'TIMEOUT'
  | 'POISONED'
  | 'CHILD_FAILED'
  | 'ENGINE_CLOSED'
  | 'OUTCOME_UNKNOWN'
  | 'UNSUPPORTED_RUNTIME'
  | 'LEDGER_BUSY'
  | 'LEDGER_CORRUPT'
  | 'LEDGER_FOREIGN'
  | 'LEDGER_NEWER'
  | 'LEDGER_UNAVAILABLE'
  | 'LEDGER_WRITE_FAILED'
  | 'EXECUTION_ERROR'
  | 'TYPE_MISMATCH'
  | 'ALREADY_REGISTERED'
  | 'FORBIDDEN'
  | 'NO_MODEL'
  | 'NOT_OFFERED'
  | 'INVALID_PLAN'
  | 'ALREADY_ACTIVE'
  | 'NOT_ACTIVE'
  | 'AGENTS_ACTIVE'
  | 'OBJECTIVES_OPEN'
  | 'BRANCH_CLOSED'

/** An error as it is stored and sent: no stack, survives the round trip through JSON. */
export interface StoredError {
  code: string
  message: string
  details?: unknown
  /** A `Failure` with `retry: false` threw it: it stays final when a repeated run meets it again. */
  final?: true
}

const marker = Symbol.for('errand.error')

/**
 * Every refusal of the engine.
 *
 * `code` is one of a closed union, `details` holds the ids and values seen, `cause` what lies below.
 * Test with `ErrandError.isInstance(error)`, which also works across two copies of the package.
 */
export class ErrandError extends Error {
  override readonly name: string = 'ErrandError'
  readonly code: ErrorCode
  readonly details: Record<string, unknown>

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
    Object.defineProperty(this, marker, { value: true })
  }

  /** True for an error of this engine, whichever copy of the package made it. */
  static isInstance(value: unknown): value is ErrandError {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[marker] === true
  }

  toJSON(): StoredError {
    return { code: this.code, message: this.message, details: this.details }
  }
}

/** Thrown by `engine.result` when the task failed; `error` is what the ledger holds. */
export class TaskFailedError extends ErrandError {
  override readonly name = 'TaskFailedError'
  readonly taskId: string
  readonly error: StoredError

  constructor(taskId: string, error: StoredError) {
    super('TASK_FAILED', `Task ${taskId} failed: ${error.message} (${error.code}). \`retry\` gives it a new attempt.`, {
      taskId,
      error,
    })
    this.taskId = taskId
    this.error = error
  }
}

/** Thrown by `engine.result` when the task was canceled. */
export class TaskCanceledError extends ErrandError {
  override readonly name = 'TaskCanceledError'
  readonly taskId: string
  readonly statusReason: string | null

  constructor(taskId: string, statusReason: string | null) {
    super(
      'TASK_CANCELED',
      `Task ${taskId} was canceled${statusReason ? `: ${statusReason}` : ''}. A canceled task is final.`,
      {
        taskId,
        statusReason,
      },
    )
    this.taskId = taskId
    this.statusReason = statusReason
  }
}

/**
 * The one error class that executors are meant to throw: it says how the engine should take the failure.
 *
 * `retry: false` makes it final whatever the task's retry policy; `code` is stored in place of `TASK_FAILED`;
 * `retryAfterMs` (milliseconds) replaces the policy's backoff for this failure.
 */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: string
  readonly retry: boolean
  readonly retryAfterMs: number | undefined
  readonly details: unknown

  constructor(
    message: string,
    options: { code?: string; retry?: boolean; retryAfterMs?: number; details?: unknown; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = options.code ?? 'TASK_FAILED'
    this.retry = options.retry ?? true
    this.retryAfterMs = options.retryAfterMs
    this.details = options.details
  }
}

/** Whatever was thrown (an Error, a string, undefined) as it is stored. `fallback` is the code of errors that carry none. */
export function toStoredError(thrown: unknown, fallback: ErrorCode = 'TASK_FAILED'): StoredError {
  const error = storedErrorOf(thrown, fallback)
  // It becomes a line of a conversation, and a model reads it.
  return { ...error, message: storableText(error.message) }
}

function storedErrorOf(thrown: unknown, fallback: ErrorCode): StoredError {
  if (ErrandError.isInstance(thrown)) return thrown.toJSON()
  if (thrown instanceof Failure) {
    const { code, message, details, retry } = thrown
    return {
      code,
      message,
      ...(details === undefined ? {} : { details: jsonOrText(details) }),
      ...(retry ? {} : { final: true }),
    }
  }
  let text: string
  try {
    text = thrown instanceof Error ? `${thrown.message || thrown.name}` : String(thrown)
  } catch {
    text = 'an object that has no text'
  }
  return { code: systemCode(thrown) ?? fallback, message: text }
}

/** The word that Node and many libraries put beside an error's text (`ECONNRESET`, `ERR_INVALID_URL`): a policy may name it. */
function systemCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined
  const { code } = thrown as { code?: unknown }
  return typeof code === 'string' && /^E[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : undefined
}

/** Where an error came from, for the ledger's own record; undefined for what is no error. */
export function stackOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && typeof thrown.stack === 'string' ? thrown.stack.slice(0, longestStack) : undefined
}

const longestStack = 4_000

/** Details are for people: what has no JSON image is told in words instead of failing the failure. */
function jsonOrText(details: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(details) ?? 'null') as unknown
  } catch {
    return String(details)
  }
}

/** The candidate nearest to what was written, if it is near enough to be a likely slip. */
export function nearestName(written: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(written.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(written.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      bestDistance = distance
      best = candidate
    }
  }
  return best
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min((previous[j] as number) + 1, (current[j - 1] as number) + 1, substitution))
    }
    previous = current
  }
  return previous[b.length] as number
}
