// Invokes the executor of a task: parses the input again with its defaults, checks the result and stores its JSON
// image. The executor sees the same values in the first run as in every later one.
import type { ZodType } from 'zod'
import { type AnyExecutor, isExecutor, type Run } from '../api/executor.ts'
import { Failure } from '../core/errors.ts'
import { fromJson, toJson } from '../core/json.ts'
import type { Task } from '../entities/task.ts'

/** @throws what the executor threw; Failure INVALID_INPUT, INVALID_RESULT or FORBIDDEN, which are final. */
export async function invokeExecutor(executor: AnyExecutor, task: Task, run: Run): Promise<unknown> {
  if (!isExecutor(executor)) return imageOf(await executor(task as never, run))
  if (executor.runsCommands && !task.mayRunCommands) throw commandsRefused()
  const given = task.input ?? undefined
  const takes = 'The input does not match the input schema of the executor'
  const input = executor.input === undefined ? task.input : fitting(executor.input, given, takes, 'INVALID_INPUT')
  const value = await executor.run({ ...task, input }, run)
  const declares = 'The result does not match the result schema of the executor'
  return imageOf(executor.result === undefined ? value : fitting(executor.result, value, declares, 'INVALID_RESULT'))
}

/** The executor may have been unknown when the task was created, or may not have run commands then. */
function commandsRefused(): Failure {
  return new Failure(
    'The executor of this task runs commands, but the task may not run any: a caller without the right to run commands created or changed it. Create a new task as a caller with that right.',
    { code: 'FORBIDDEN', retry: false },
  )
}

function fitting(schema: ZodType, value: unknown, complaint: string, code: string): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new Failure(`${complaint}: ${parsed.error.message}`, { code, retry: false })
}

function imageOf(value: unknown): unknown {
  return fromJson(toJson(value, 'the result'))
}
