// What the two engines of Day1 stand on: an engine that was given, the name under which they call its abilities, and their errors: the
// engine's, with its code and details, under the names that their callers catch.

import { ErrandError } from '../../core/errors.ts'
import { kindOf } from '../../core/parse.ts'
import type { Engine } from '../../engine-api.ts'

/** Who calls, in the log of the bus. */
export const fromDay1 = { caller: { surface: 'day1' } } as const

/** Does some work with the engine and throws its refusals renamed; anything else is thrown as it is. */
export type Ask = <T>(work: (engine: Engine) => Promise<T>) => Promise<T>

/** `renamed` makes an error of ours one of `what`'s. @throws such an error for what is no engine. */
export function askOf(given: unknown, what: string, renamed: (error: ErrandError) => ErrandError): Ask {
  const isEngine =
    kindOf(given) === 'object' && typeof (given as Engine).create === 'function' && 'bus' in (given as Engine)
  if (!isEngine) {
    const text = `${what} stands on an engine, got ${kindOf(given)}. Pass what \`createEngine\` resolves to.`
    throw renamed(new ErrandError('INVALID_INPUT', text, {}))
  }
  return async (work) => {
    try {
      return await work(given as Engine)
    } catch (error) {
      throw ErrandError.isInstance(error) ? renamed(error) : error
    }
  }
}

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

/** An objective, an agent or a branch that is not there is named beside the task, or without one. */
function lacksTask({ code, details }: ErrandError): boolean {
  const { taskId, abilityId: _, ...others } = details
  return code === 'NOT_FOUND' && taskId !== undefined && Object.keys(others).length === 0
}
