// Calls the executor of a task: its input is parsed before, and its result is checked and made storable after.
import type { ZodType } from 'zod'
import { type ErrandError, Failure } from '../core/errors.ts'
import { type RecordedImage, recordedImage } from '../core/json.ts'
import { isAsyncSchema, issuesIn, issueText, safeParse, sentenceOf } from '../core/parse.ts'
import { type AnyExecutor, isExecutor, type Run } from '../entities/executor.ts'
import type { Task } from '../entities/task.ts'
import { runWithin } from './call-scope.ts'
import { parsedOnce } from './parsed-once.ts'
import { RunHandle, type RunParts } from './run-handle.ts'

/**
 * Parses the input with its defaults, once for all runs, checks the result and makes its JSON image. `report` receives what JSON cannot
 * carry of the result.
 * @throws what the executor threw; Failure INVALID_INPUT, INVALID_RESULT or FORBIDDEN, which are final.
 */
export async function invokeExecutor(
  executor: AnyExecutor,
  task: Task,
  parts: RunParts,
  report: (loss: ErrandError) => void,
): Promise<unknown> {
  const run: Run = new RunHandle(parts)
  // The result of a run that has ended is ignored, and so is that of one whose task goes on in another run.
  const isIgnored = ({ core } = parts): boolean =>
    core.hasEnded || core.next !== undefined || core.resting !== undefined
  const imageOf = (value: unknown): unknown =>
    isIgnored() ? undefined : storable(recordedImage(value, 'the result', report))
  if (!isExecutor(executor)) return imageOf(await runWithin(parts.waits, () => executor(task as never, run)))
  if (executor.runsCommands && !task.mayRunCommands) throw commandsRefused()
  const given = task.input ?? undefined
  const input =
    executor.input === undefined
      ? task.input
      : await parsedOnce(parts.core, 'input', task.input, given, () =>
          fitting(executor.input as ZodType, given, {
            code: 'INVALID_INPUT',
            complaint: `The input of the task does not match the input schema of "${task.executor}"`,
            advice:
              'If the schema has changed since the task was created, let it accept this input too and retry the task, or create the task anew',
          }),
        )
  const value = await runWithin(parts.waits, () => executor.run({ ...task, input }, run))
  if (executor.result === undefined || isIgnored()) return imageOf(value)
  const mismatch = {
    code: 'INVALID_RESULT',
    complaint: `What "${task.executor}" returned does not match its result schema`,
    advice: 'Correct the executor or the schema, and retry the task',
  }
  try {
    return imageOf(fitting(executor.result, value, mismatch))
  } catch (error) {
    if (!isAsyncSchema(error)) throw error
    // The work is done, and the result is not lost for a check that cannot be made.
    report(error)
    return imageOf(value)
  }
}

/** @throws Failure INVALID_RESULT, final: another attempt would return the same. */
function storable(recorded: RecordedImage): unknown {
  if ('image' in recorded) return recorded.image
  const message = `The executor returned a result that cannot be stored: ${recorded.lost}. Return plain JSON, and retry the task.`
  throw new Failure(message, { code: 'INVALID_RESULT', retry: false, details: { reason: recorded.lost } })
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
