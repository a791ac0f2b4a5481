// Exo's errors: the engine's errors, with the same code and details, under the names that Exo's callers catch.
import { ErrandError, type ErrorCode } from '../../core/errors.ts'

/** An error of this vocabulary; `code` and `details` are the engine's, whose error is the `cause`. */
export class TaskError extends ErrandError {
  override readonly name: string = 'TaskError'

  constructor(cause: ErrandError) {
    super(cause.code, cause.message, cause.details, cause)
  }
}

/** The task, or the parent, does not exist. */
export class TaskNotFoundError extends TaskError {
  override readonly name = 'TaskNotFoundError'
}

/** The transition is not allowed; the message names both states and the allowed events. Nothing was changed. */
export class InvalidTransitionError extends TaskError {
  override readonly name = 'InvalidTransitionError'
}

const ownErrors: Partial<Record<ErrorCode, typeof TaskError>> = {
  NOT_FOUND: TaskNotFoundError,
  INVALID_TRANSITION: InvalidTransitionError,
}

/** An engine's error under Exo's name; other errors unchanged. */
function toTaskError(error: unknown): unknown {
  if (!ErrandError.isInstance(error) || error instanceof TaskError) return error
  return new (ownErrors[error.code] ?? TaskError)(error)
}

/** Does some work and translates its errors. */
export async function withExoErrors<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toTaskError(error)
  }
}

/** `withExoErrors` for synchronous work. */
export function withExoErrorsSync<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toTaskError(error)
  }
}
