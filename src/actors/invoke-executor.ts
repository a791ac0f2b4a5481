// From a task to its executor's result: the input is parsed again with its defaults, the result is checked and taken as its
// JSON image, on the first run as on any other.
import type { ZodType } from 'zod'
import type { Task } from '../entities/task.ts'
import { Failure } from '../errors.ts'
import { type AnyExecutor, isExecutor, type Run } from '../executor.ts'
import { fromJson, toJson } from '../json.ts'

/** @throws what the executor threw; Failure INVALID_INPUT or INVALID_RESULT, both final. */
export async function invokeExecutor(executor: AnyExecutor, task: Task, run: Run): Promise<unknown> {
  if (!isExecutor(executor)) return imageOf(await executor(task as never, run))
  const input = executor.input === undefined ? task.input : parseInput(executor.input, task)
  const value = await executor.run({ ...task, input }, run)
  if (executor.result === undefined) return imageOf(value)
  const parsed = executor.result.safeParse(value)
  if (parsed.success) return imageOf(parsed.data)
  throw new Failure(`The result is not what the executor declares: ${parsed.error.message}`, {
    code: 'INVALID_RESULT',
    retry: false,
  })
}

function parseInput(schema: ZodType, task: Task): unknown {
  const parsed = schema.safeParse(task.input ?? undefined)
  if (parsed.success) return parsed.data
  throw new Failure(`The input is not what the executor takes: ${parsed.error.message}`, {
    code: 'INVALID_INPUT',
    retry: false,
  })
}

function imageOf(value: unknown): unknown {
  return fromJson(toJson(value, 'the result'))
}
