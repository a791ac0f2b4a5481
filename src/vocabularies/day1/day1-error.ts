// Day1's errors, and how the engine's become them: the same refusal, code and details under the names that its callers catch.
import { ErrandError } from '../../errors.ts'

/** Every refusal of a TaskEngine; `code` and `details` are the engine's, whose error is the `cause`. */
export class TaskEngineError extends ErrandError {
  override readonly name: string = 'TaskEngineError'

  constructor(cause: ErrandError) {
    super(cause.code, cause.message, cause.details, cause)
  }
}

/** There is no such task. */
export class TaskNotFoundError extends TaskEngineError {
  override readonly name = 'TaskNotFoundError'
}

/** Every refusal of a ConsolidationEngine: no such task, agent or branch, or a fact that could not be compared. Nothing was changed. */
export class ConsolidationError extends ErrandError {
  override readonly name = 'ConsolidationError'

  constructor(cause: ErrandError) {
    super(cause.code, cause.message, cause.details, cause)
  }
}

/** A refusal as a TaskEngine's. */
export function toTaskError(error: ErrandError): ErrandError {
  return lacksTask(error) ? new TaskNotFoundError(error) : new TaskEngineError(error)
}

/** The same as a ConsolidationEngine's. */
export function toConsolidationError(error: ErrandError): ErrandError {
  return new ConsolidationError(error)
}

/** An objective, an agent or a branch that is not there is named beside the task, or without one. */
function lacksTask({ code, details }: ErrandError): boolean {
  const { taskId, abilityId: _, ...others } = details
  return code === 'NOT_FOUND' && taskId !== undefined && Object.keys(others).length === 0
}

/** Does some work and lets its refusals be renamed; anything else is thrown as it is. */
export async function renaming<T>(renamed: (error: ErrandError) => ErrandError, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw ErrandError.isInstance(error) ? renamed(error) : error
  }
}
