// Invokes the executor of a task: parses the input again with its defaults, checks the result and stores its JSON
// image. The executor sees the same values in the first run as in every later one.
import type { ZodType } from 'zod'
import { type AnyExecutor, isExecutor, type Run } from '../api/executor.ts'
import { type ErrandError, Failure } from '../core/errors.ts'
import { resultImage } from '../core/json.ts'
import { issuesIn, issueText, safeParse, sentenceOf } from '../core/parse.ts'
import type { Task } from '../entities/task.ts'

/**
 * `report` receives what JSON cannot carry of the result.
 * @throws what the executor threw; Failure INVALID_INPUT, INVALID_RESULT or FORBIDDEN, which are final.
 */
export async function invokeExecutor(
  executor: AnyExecutor,
  task: Task,
  run: Run,
  report: (loss: ErrandError) => void,
): Promise<unknown> {
  const imageOf = (value: unknown): unknown => resultImage(value, 'the result', report)
  if (!isExecutor(executor)) return imageOf(await executor(task as never, run))
  if (executor.runsCommands && !task.mayRunCommands) throw commandsRefused()
  const given = task.input ?? undefined
  const input =
    executor.input === undefined
      ? task.input
      : fitting(executor.input, given, {
          code: 'INVALID_INPUT',
          complaint: `The input of the task does not match the input schema of "${task.executor}"`,
          advice:
            'If the schema has changed since the task was created, let it accept this input too and retry the task, or create the task anew',
        })
  const value = await executor.run({ ...task, input }, run)
  if (executor.result === undefined) return imageOf(value)
  const result = fitting(executor.result, value, {
    code: 'INVALID_RESULT',
    complaint: `What "${task.executor}" returned does not match its result schema`,
    advice: 'Correct the executor or the schema, and retry the task',
  })
  return imageOf(result)
}

/** The executor may have been unknown when the task was created, or may not have run commands then. */
function commandsRefused(): Failure {
  return new Failure(
    'The executor of this task runs commands, but the task may not run any: a caller without the right to run commands created or changed it. Create a new task as a caller with that right.',
    { code: 'FORBIDDEN', retry: false },
  )
}

interface Mismatch {
  code: string
  complaint: string
  /** What would work. */
  advice: string
}

function fitting(schema: ZodType, value: unknown, { code, complaint, advice }: Mismatch): unknown {
  const parsed = safeParse(schema, value)
  if (parsed.success) return parsed.data
  const issues = issuesIn(parsed.error)
  const message = `${complaint}: ${sentenceOf(issueText(issues.slice(0, 3)))} ${advice}.`
  throw new Failure(message, { code, retry: false, details: { issues } })
}
