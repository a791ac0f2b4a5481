// What Day1's two engines share: the given engine, the caller of its abilities, and their errors, which have the engine's code and
// details under the names that their callers catch.

import { ErrandError } from '../../core/errors.ts'
import { typeName } from '../../core/type-name.ts'
import type { Engine } from '../../engine/engine-api.ts'

/** The caller in the log of the bus. */
export const fromDay1 = { caller: { surface: 'day1' } } as const

/** Runs an operation of the engine and translates its errors; other errors are thrown unchanged. */
export type EngineCaller = <T>(work: (engine: Engine) => Promise<T>) => Promise<T>

/** `renamed` translates an error. @throws such an error for a value that is not an engine. */
export function engineCallerOf(
  given: unknown,
  what: string,
  renamed: (error: ErrandError) => ErrandError,
): EngineCaller {
  const isEngine =
    typeName(given) === 'object' && typeof (given as Engine).create === 'function' && 'bus' in (given as Engine)
  if (!isEngine) {
    const text = `${what} needs an engine, got ${typeName(given)}. Pass what \`createEngine\` resolves to.`
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

/** An error of a TaskEngine; `code` and `details` are the engine's, whose error is the `cause`. */
export class TaskEngineError extends ErrandError {
  override readonly name: string = 'TaskEngineError'

  constructor(cause: ErrandError) {
    super(cause.code, cause.message, cause.details, cause)
  }
}

/** The task does not exist. */
export class TaskNotFoundError extends TaskEngineError {
  override readonly name = 'TaskNotFoundError'
}

/** An error of a ConsolidationEngine: an unknown task, agent or branch, or a failed comparison of facts. Nothing was changed. */
export class ConsolidationError extends ErrandError {
  override readonly name = 'ConsolidationError'

  constructor(cause: ErrandError) {
    super(cause.code, cause.message, cause.details, cause)
  }
}

/** Translates an error into one of a TaskEngine. */
export function toTaskError(error: ErrandError): ErrandError {
  return lacksTask(error) ? new TaskNotFoundError(error) : new TaskEngineError(error)
}

/** True if only the task is missing: for objectives, agents and branches the details name more, or no task. */
function lacksTask({ code, details }: ErrandError): boolean {
  const { taskId, abilityId: _, ...others } = details
  return code === 'NOT_FOUND' && taskId !== undefined && Object.keys(others).length === 0
}
