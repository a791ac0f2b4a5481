// Exo's errors, and how the engine's become them: the same refusal, code and details under the names that Exo's callers catch.
import { ErrandError, type ErrorCode } from '../../core/errors.ts'

/** Every refusal of this vocabulary; `code` and `details` are the engine's, whose error is the `cause`. */
export class TaskError extends ErrandError {
  override readonly name: string = 'TaskError'

  constructor(cause: ErrandError) {
    super(cause.code, cause.message, cause.details, cause)
  }
}

/** There is no such task, or no such parent. */
export class TaskNotFoundError extends TaskError {
  override readonly name = 'TaskNotFoundError'
}

/** The table has no such edge; the message names both states and what would be accepted. Nothing was changed. */
export class InvalidTransitionError extends TaskError {
  override readonly name = 'InvalidTransitionError'
}

const ownErrors: Partial<Record<ErrorCode, typeof TaskError>> = {
  NOT_FOUND: TaskNotFoundError,
  INVALID_TRANSITION: InvalidTransitionError,
}

/** The same refusal by Exo's name; anything else as it is. */
function toTaskError(error: unknown): unknown {
  if (!ErrandError.isInstance(error) || error instanceof TaskError) return error
  return new (ownErrors[error.code] ?? TaskError)(error)
}

/** Does some work and lets its refusals be Exo's. */
export async function withExoErrors<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toTaskError(error)
  }
}

/** The same for what is done at once. */
export function withExoErrorsSync<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toTaskError(error)
  }
}
