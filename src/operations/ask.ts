// The `ask` executor: a task that is one question to a person, so that a plan can stop for an approval without any
// code. With a default it can answer itself after a time-out, for unattended runs.
import { z } from 'zod'
import type { Duration } from '../core/duration.ts'
import { durationSchema } from '../core/duration-schema.ts'
import { omitUndefined } from '../core/omit-undefined.ts'
import { once } from '../core/once.ts'
import type { Executor } from '../entities/executor.ts'
import { ownExecutor } from '../entities/executor.ts'
import { audiences } from '../entities/question.ts'
import type { AskOptions } from '../entities/wait-options.ts'
import { toAnswerSchema } from './steps/answer-schema.ts'

const askInput = once(() =>
  z.strictObject({
    question: z.string().min(1),
    /** JSON Schema of a valid answer. Default: any answer is valid. */
    schema: z.record(z.string(), z.unknown()).check(isUsable).optional(),
    /** The answer after the time-out. */
    default: z.unknown().optional(),
    /** Milliseconds until the default answers, or without a default the task fails with `TIMEOUT`. */
    timeoutMs: durationSchema({ min: 1 }).optional(),
    /** Who may answer: `person` (default) refuses models, `anyone` does not. */
    for: z.enum(audiences).optional(),
  }),
)

export type AskInput = z.input<ReturnType<typeof askInput>>

/** So that a question which cannot be asked is refused when its task is created. */
function isUsable({ value, issues }: z.core.ParsePayload<Record<string, unknown>>): void {
  try {
    toAnswerSchema(value)
  } catch (error) {
    issues.push({ code: 'custom', input: value, message: (error as Error).message })
  }
}

/**
 * Creates an executor whose tasks are questions; the answer is the result of the task. `defaultAfterMs` is how long a
 * question with a default and without `timeoutMs` of its own waits for a person. Default: forever.
 *
 * @example
 * const engine = await createEngine({ executors: { ask: createAsk({ defaultAfterMs: 60_000 }) } })
 * await engine.create({ executor: 'ask', input: { question: 'Deploy?', schema: { type: 'boolean' }, default: false } })
 */
export function createAsk(options: { defaultAfterMs?: Duration } = {}): Executor<AskInput, unknown> {
  return ownExecutor({
    input: askInput,
    result: () => z.unknown(),
    asksPeople: true,
    run: (task, run) =>
      run.ask(task.input.question, task.input.schema ?? null, askOptions(task.input, options.defaultAfterMs)),
  })
}

/**
 * Asks a person (with `for: 'anyone'`, also a model) and waits for the answer: forever, unless the task has a
 * `timeoutMs`.
 */
export const ask = createAsk()

/** Only the options that were given: `run.ask` takes a default of undefined for a default. */
function askOptions(input: AskInput, defaultAfterMs: Duration | undefined): AskOptions {
  const hasDefault = input.default !== undefined
  const timeoutMs = input.timeoutMs ?? (hasDefault ? defaultAfterMs : undefined)
  return omitUndefined({ default: input.default, timeoutMs, for: input.for })
}
