// The `ask` executor: a task that is one question to a person, so that a plan can stop for an approval without any code.
// When a default is given it may answer by itself after a while, which is what runs unattended.
import { z } from 'zod'
import type { AskOptions, Executor } from '../api/executor.ts'
import { defineExecutor } from '../api/executor.ts'
import { defined } from '../core/defined.ts'
import { audiences } from '../entities/question.ts'

const askInput = z.strictObject({
  question: z.string().min(1),
  /** JSON Schema of a valid answer; without one anything is. */
  schema: z.record(z.string(), z.unknown()).optional(),
  /** The answer when nobody gives one in time. */
  default: z.unknown().optional(),
  /** Milliseconds until the default answers, or the task fails with `TIMEOUT` when there is none. */
  timeoutMs: z.number().positive().optional(),
  /** Who may answer: `person` (default) refuses models, `anyone` does not. */
  for: z.enum(audiences).optional(),
})

export type AskInput = z.input<typeof askInput>

/**
 * Makes an executor whose tasks are questions; the answer is the task's result. `defaultAfterMs` is how long a question that
 * has a default and no `timeoutMs` of its own waits for a person. Without it, for ever.
 *
 * @example
 * const engine = await createEngine({ executors: { ask: createAsk({ defaultAfterMs: 60_000 }) } })
 * await engine.create({ executor: 'ask', input: { question: 'Deploy?', schema: { type: 'boolean' }, default: false } })
 */
export function createAsk(options: { defaultAfterMs?: number } = {}): Executor<AskInput, unknown> {
  return defineExecutor({
    input: askInput,
    result: z.unknown(),
    asksPeople: true,
    run: (task, run) =>
      run.ask(task.input.question, task.input.schema ?? null, askOptions(task.input, options.defaultAfterMs)),
  })
}

/** Asks a person (with `for: 'anyone'`, a model too) and waits for the answer, for ever unless the task says otherwise. */
export const ask = createAsk()

/** Only what was given: to `run.ask` a default of undefined is a default. */
function askOptions(input: AskInput, defaultAfterMs: number | undefined): AskOptions {
  const hasDefault = input.default !== undefined
  const timeoutMs = input.timeoutMs ?? (hasDefault ? defaultAfterMs : undefined)
  return defined({ default: input.default, timeoutMs, for: input.for })
}
