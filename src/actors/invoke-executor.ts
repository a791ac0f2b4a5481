// From a task to its executor's result: the input is parsed again with its defaults, the result is checked and taken as its
// JSON image, on the first run as on any other.
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
  const takes = 'The input is not what the executor takes'
  const input = executor.input === undefined ? task.input : fitting(executor.input, given, takes, 'INVALID_INPUT')
  const value = await executor.run({ ...task, input }, run)
  const declares = 'The result is not what the executor declares'
  return imageOf(executor.result === undefined ? value : fitting(executor.result, value, declares, 'INVALID_RESULT'))
}

/** Whoever created it may have named an executor that nobody knew then, or that ran no commands yet. */
function commandsRefused(): Failure {
  return new Failure(
    'The task may run no commands, and its executor runs them: it was created, or changed, by somebody who may not. Create another one that does what is wanted.',
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
