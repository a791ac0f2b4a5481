// The error class of the engine, used on every surface. A message says what happened, with the ids and values seen, why, and
// what would work.
import { type ErrorCode, httpStatusOf } from './error-codes.ts'

export type { ErrorCode } from './error-codes.ts'

/**
 * An error as it is stored: plain JSON, bounded in size (see `toStoredError`).
 *
 * Everything but `code`, `message`, `details` and `final` is only in the ledger's own record of a task, a run and a call (`engine.get`,
 * `runs`, `calls`). Events, outcomes and the bus omit it: a stack is of no use to a model and costs tokens.
 */
export interface StoredError {
  code: string
  message: string
  /** The class of the error (`TypeError`); absent when the thrown value was not an error, and when the engine recorded it without one. */
  name?: string
  /** Set for an error of this package, or of a class that extends one. */
  brand?: 'ErrandError' | 'Failure'
  /** The error's own fields that JSON carries (`status`), as far as they are small. */
  fields?: Record<string, unknown>
  /** The thrown value as JSON when it was not an error; without `value` it was undefined. */
  thrown?: { value?: unknown }
  details?: unknown
  /** Absent when nothing was thrown, as for a timeout. */
  stack?: string
  cause?: StoredCause
  /** The error was a `Failure` with `retry: false`. It stays final when a later run replays it. */
  final?: true
}

/** The cause of an error. `details` holds the `errors` of an AggregateError. */
export interface StoredCause {
  message: string
  name?: string
  code?: string
  fields?: Record<string, unknown>
  thrown?: { value?: unknown }
  details?: unknown
  stack?: string
  cause?: StoredCause
}

const marker = Symbol.for('errand.error')

/**
 * Thrown for every operation that the engine refuses.
 *
 * `code` is one of a closed union, `details` holds the ids and values seen, `cause` the underlying error.
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

  /** The HTTP status for its code, as errand's own routes answer it: 404 for `NOT_FOUND`. docs/reference/errors.md lists all. */
  get httpStatus(): number {
    return httpStatusOf(this.code)
  }

  /** True for an ErrandError of any copy of the package. */
  static isInstance(value: unknown): value is ErrandError {
    if (typeof value !== 'object' || value === null) return false
    try {
      return (value as Record<symbol, unknown>)[marker] === true
    } catch {
      // A revoked proxy throws on every read.
      return false
    }
  }

  toJSON(): StoredError {
    return { code: this.code, message: this.message, details: this.details }
  }
}

/**
 * Thrown by `engine.result` when the task failed. `error` is the error stored in the ledger; `cause` is an Error rebuilt from it, with the
 * name, message, stack and causes of what the executor threw.
 */
export class TaskFailedError extends ErrandError {
  override readonly name = 'TaskFailedError'
  readonly taskId: string
  readonly error: StoredError

  /** @param title how the message names the task, for example `#12 (lines)` */
  constructor(taskId: string, error: StoredError, cause?: Error, title = taskId) {
    const message = `Task ${title} failed: ${error.message} (${error.code}). \`retry\` gives it a new attempt.`
    super('TASK_FAILED', message, { taskId, error }, cause)
    this.taskId = taskId
    this.error = error
  }
}

/** Thrown by `engine.result` when the task was canceled. */
export class TaskCanceledError extends ErrandError {
  override readonly name = 'TaskCanceledError'
  readonly taskId: string
  readonly statusReason: string | null

  /** @param title how the message names the task, for example `#12 (lines)` */
  constructor(taskId: string, statusReason: string | null, title = taskId) {
    const message = `Task ${title} was canceled${statusReason ? `: ${statusReason}` : ''}. A canceled task is final.`
    super('TASK_CANCELED', message, { taskId, statusReason })
    this.taskId = taskId
    this.statusReason = statusReason
  }
}

/**
 * The error class for executors to throw: it sets how the engine treats the failure.
 *
 * `retry: false` makes it final regardless of the task's retry policy; `code` is stored in place of `TASK_FAILED`;
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

/** An error without its name, stack and cause: for events, outcomes, other agents and models. */
export function briefError({ code, message, details, final }: StoredError): StoredError {
  return { code, message, ...(details === undefined ? {} : { details }), ...(final ? { final } : {}) }
}

/** The candidate nearest to `written` by edit distance; undefined when none is near enough to be a likely typo. */
export function nearestName(written: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(written.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(written.toLowerCase(), candidate.toLowerCase())
    // As many edits as letters would turn any short name into any other.
    if (distance < bestDistance && distance < Math.min(written.length, candidate.length)) {
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
