// An AI SDK loop inside a task, with every model step and every tool execution in the journal. Nothing of the SDK is imported:
// models and tools are recognised by their shape, so that an author who has none of it needs none of it.
import { z } from 'zod'
import type { CallOptions, Run } from '../api/executor.ts'
import { callOptionsSchema } from '../api/options.ts'
import { ErrandError } from '../core/errors.ts'
import { kindOf, parse } from '../core/parse.ts'
import { checkModel, durableModel, type ModelLike } from './durable-model.ts'
import { checkTools, durableTools, type ToolsLike } from './durable-tools.ts'

export type { ModelLike } from './durable-model.ts'
export type { ToolsLike } from './durable-tools.ts'

/** Options of one journaled thing; they mean what they mean for `run.call`. */
export type DurableCallOptions = Omit<CallOptions, 'key'>

/** Options of a durable model. `onInterrupt` is `rerun` by default: asking a model again changes nothing in the world. */
export interface DurableModelOptions extends DurableCallOptions {
  /**
   * What the steps of one conversation are found by, n-th among equals, in place of what was asked. For prompts that change
   * from run to run (a date, a random id). Conversations that go on at the same time need a key each.
   */
  key?: string
}

/** Options of durable tools: for all of them, and for single ones by name. `onInterrupt` is the task's by default. */
export interface DurableToolsOptions<Name extends PropertyKey = string> extends DurableCallOptions {
  perTool?: { [name in Name]?: DurableCallOptions }
}

const { key, ...callSettings } = callOptionsSchema.shape
const modelOptionsSchema = z.strictObject({ key, ...callSettings })
const toolsOptionsSchema = z.strictObject({
  ...callSettings,
  perTool: z.record(z.string(), z.strictObject(callSettings)).optional(),
})

/**
 * A language model whose steps are journaled, to be given to `generateText` or `streamText` in an executor; of the same type.
 *
 * A repeated run gets each recorded step without asking the provider. A step is found by everything that was asked (prompt,
 * tools, settings; not headers), n-th among equals, or by `key`. `doStream` passes words on as they come and holds tool calls
 * and the end back until the step is recorded, whole; of a step that a crash cut off nothing is kept, and it is asked again.
 *
 * What the SDK gets is the recorded image, on the first run too: bytes, dates, URLs and errors come back as such, texts of a
 * stream in larger pieces; the raw `request` and `response.body` are not kept. A step that does not fit into the ledger (4 MiB
 * of JSON) fails.
 *
 * Errors of the provider pass through unchanged. They are recorded as failed calls: the runs of one attempt meet the same
 * errors again (also `isRetryable`, status and headers), so that a loop which went another way because of one goes that way
 * again; a new attempt asks anew. A step that ends with an error part, with finish reason `error` or without a finish counts
 * as failed too. `retry` tries a step again inside one entry, before anything of it has flowed, unless the provider says that
 * it is of no use, and not before its `retry-after`; set the SDK's `maxRetries` to 0 then.
 *
 * The provider's `abortSignal` aborts with the caller's, with `timeoutMs`, and when the run ends; then the step rejects with
 * RUN_ENDED. Recorded steps are given whether or not the caller's signal has aborted.
 *
 * @example
 * const answer = defineExecutor({
 *   run: async (task, run) => {
 *     const { text } = await generateText({
 *       model: durable(run, provider('gpt-5-mini')),
 *       tools: durable(run, tools, { perTool: { search: { onInterrupt: 'rerun' } } }),
 *       stopWhen: isStepCount(20),
 *       prompt: task.input.question,
 *     })
 *     return text
 *   },
 * })
 * @throws ErrandError INVALID_INPUT for what is no run or no model of the specification v3 or v4; UNKNOWN_OPTION.
 */
export function durable<M extends ModelLike>(run: Run, model: M, options?: DurableModelOptions): M
/**
 * Tools whose executions are journaled under their names, one entry for each tool call; same keys, same types.
 *
 * A repeated run gets the recorded result, or meets the recorded error again, and does not execute. The identity is the
 * `toolCallId`, so two equal calls are two. It stays the same when an interrupted tool is executed again (`onInterrupt:
 * 'rerun'`): the tool can hand it to the outside world as its idempotency key. With `fail` the tool's error is
 * CALL_INTERRUPTED, which the SDK shows to the model: it is told and decides. With `ask` a person does.
 *
 * Everything the SDK gives `execute` reaches it; `abortSignal` aborts with the run too. Results are their image, as with a
 * model. Of values that come one by one the last is the result: an async generator function still shows the others as they
 * come, on the run that executes it. Tools without `execute` pass unchanged.
 *
 * A tool that waits for a person or for other tasks (`run.ask`, `run.wait`, `run.sleep`) must be left out: those requests are
 * journaled themselves, and a run cannot rest while a call of it is in progress.
 *
 * @throws ErrandError INVALID_INPUT for what is no run or no object of tools; UNKNOWN_OPTION { option, nearest }, also for a
 *   `perTool` name that is not among the tools.
 */
export function durable<T extends ToolsLike>(run: Run, tools: T, options?: DurableToolsOptions<keyof T>): T
export function durable(run: Run, target: ModelLike | ToolsLike, options: unknown = {}): ModelLike | ToolsLike {
  checkRun(run)
  if (typeof target !== 'object' || target === null) throw noTarget(target)
  return isModel(target) ? ofModel(run, target, options) : ofTools(run, target, options)
}

function ofModel(run: Run, model: ModelLike, given: unknown): ModelLike {
  checkModel(model)
  const { key: ownKey, ...settings } = parse(modelOptionsSchema, given, 'durable (of a model)')
  return durableModel({ run, model, key: ownKey, settings: settings as DurableCallOptions })
}

function ofTools(run: Run, tools: ToolsLike, given: unknown): ToolsLike {
  const { perTool = {}, ...settings } = parse(toolsOptionsSchema, given, 'durable (of tools)')
  checkTools(tools, Object.keys(perTool))
  return durableTools(run, tools, (name) => ({ ...settings, ...perTool[name] }) as DurableCallOptions)
}

/** A model can stream; a tool of that name would be an object, not a function. */
function isModel(target: ModelLike | ToolsLike): target is ModelLike {
  return typeof target.doStream === 'function'
}

function checkRun(run: unknown): void {
  const { call, signal } = (run ?? {}) as Partial<Run>
  if (typeof call === 'function' && signal instanceof AbortSignal) return
  throw new ErrandError(
    'INVALID_INPUT',
    `durable needs the run of an executor first, got ${kindOf(run)}: durable(run, model) or durable(run, tools).`,
  )
}

function noTarget(target: unknown): ErrandError {
  const why =
    typeof target === 'string'
      ? `the name "${target}": a name is not resolved here, give the model object of a provider`
      : kindOf(target)
  return new ErrandError('INVALID_INPUT', `durable takes a language model or an object of tools, got ${why}.`)
}
