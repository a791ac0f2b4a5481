// An AI SDK loop inside a task, with every model step and every tool execution in the journal. Nothing of the SDK is
// imported: models and tools are recognized by their shape, so that the SDK is not a dependency.
import { z } from 'zod'
import { ErrandError, nearestName } from '../../core/errors.ts'
import { toImage } from '../../core/json-image.ts'
import { parse } from '../../core/parse.ts'
import { typeName } from '../../core/type-name.ts'
import type { CallContext, CallOptions } from '../../entities/call-options.ts'
import type { Run } from '../../entities/executor.ts'
import { callOptionsSchema } from '../../entities/options.ts'
import { checkModel, durableModel, type ModelLike } from './durable-model.ts'
import { anyOf, type CallSettings, journaled, type Outcome } from './journaled.ts'

export type { ModelLike } from './durable-model.ts'

/** Options of one journaled model or tool, with the same meaning as for `run.call`. */
export type DurableCallOptions = Omit<CallOptions, 'key'>

/** Options of a durable model. `onInterrupt` defaults to `rerun`: a repeated model call has no effects. */
export interface DurableModelOptions extends DurableCallOptions {
  /**
   * Identity of the steps of one conversation, n-th among equals, in place of their options. For prompts that change
   * from run to run (a date, a random id). Concurrent conversations need a key each.
   */
  key?: string
}

/**
 * Options of durable tools: for all of them, and for single ones by name. `onInterrupt` defaults to that of the task.
 */
export interface DurableToolsOptions<Name extends PropertyKey = string> extends DurableCallOptions {
  perTool?: { [name in Name]?: DurableCallOptions }
}

const { key, ...callSettings } = callOptionsSchema().shape
const modelOptionsSchema = z.strictObject({ key, ...callSettings })
const toolsOptionsSchema = z.strictObject({
  ...callSettings,
  perTool: z.record(z.string(), z.strictObject(callSettings)).optional(),
})

/**
 * A language model whose steps are journaled, for `generateText` or `streamText` in an executor; of the same type as
 * `model`.
 *
 * A repeated run gets each recorded step without calling the provider. A step is identified by its options (prompt,
 * tools, settings; not headers), n-th among equals, or by `key`. `doStream` passes text on as it arrives and holds back
 * tool calls and the end until the whole step is recorded; of a step that a crash interrupted nothing is stored, and
 * the provider is called again.
 *
 * The SDK gets the recorded image, in the first run too: bytes, dates, URLs and errors are restored, texts of a stream
 * come in larger pieces; the raw `request` and `response.body` are dropped. A step that exceeds 4 MiB of JSON fails.
 *
 * Errors of the provider pass through unchanged. They are recorded as failed calls: the runs of one attempt get the
 * same errors again (also `isRetryable`, status and headers), so that a loop takes the same path; a new attempt calls
 * the provider again. A step that ends with an error part, with finish reason `error` or without a finish also counts
 * as failed. `retry` retries a step inside one entry, before anything of it was streamed, unless the provider says that
 * a retry is of no use, and not before its `retry-after`; set the SDK's `maxRetries` to 0 in that case.
 *
 * The provider's `abortSignal` aborts with the caller's, with `timeoutMs`, and when the run ends; then the step rejects
 * with RUN_ENDED. Recorded steps are returned even if the caller's signal has aborted.
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
 * @throws ErrandError INVALID_INPUT for anything but a run and a model of the specification v3 or v4; UNKNOWN_OPTION.
 */
export function durable<M extends ModelLike>(run: Run, model: M, options?: DurableModelOptions): M
/**
 * Tools whose executions are journaled under their names, one entry for each tool call; same keys, same types.
 *
 * A repeated run gets the recorded result or error and does not execute. The identity is the `toolCallId`, so two equal
 * calls are two entries. The id stays the same when an interrupted tool is executed again (`onInterrupt: 'rerun'`): the
 * tool can use it as an idempotency key. With `fail` the error of the tool is CALL_INTERRUPTED, which the SDK passes to
 * the model, and the model decides. With `ask` a person decides.
 *
 * `execute` gets all the options of the SDK; `abortSignal` also aborts with the run. Results are returned as their
 * image, as with a model. For an async generator function, the last value is the result; the run that executes it
 * yields the others as they come. Tools without `execute` pass unchanged.
 *
 * A tool that waits for a person or for other tasks (`run.ask`, `run.wait`, `run.sleep`) must be left out: those
 * requests are journaled themselves, and a run cannot be suspended while a call of it is in progress.
 *
 * @throws ErrandError INVALID_INPUT for anything but a run and an object of tools; UNKNOWN_OPTION { option, nearest },
 *   also for a `perTool` name that is not among the tools.
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

/** A model has a `doStream` function; a tool of that name would be an object. */
function isModel(target: ModelLike | ToolsLike): target is ModelLike {
  return typeof target.doStream === 'function'
}

function checkRun(run: unknown): void {
  const { call, signal } = (run ?? {}) as Partial<Run>
  if (typeof call === 'function' && signal instanceof AbortSignal) return
  throw new ErrandError(
    'INVALID_INPUT',
    `durable expects the run of an executor as its first argument, got ${typeName(run)}: durable(run, model) or durable(run, tools).`,
  )
}

function noTarget(target: unknown): ErrandError {
  const why =
    typeof target === 'string'
      ? `the name "${target}": names are not resolved here, pass the model object of a provider`
      : typeName(target)
  return new ErrandError('INVALID_INPUT', `durable expects a language model or an object of tools, got ${why}.`)
}

// Tools whose executions are journaled, passed to the AI SDK in place of the author's own. The id of a tool call is its
// identity; it is part of the recorded step, so a repeated run gets the same one.

/** The part of a tool set that is used: tool sets of the AI SDK are assignable. */
export type ToolsLike = Record<string, object>

/** The options of an execution that the journal uses. */
interface ExecutionOptions {
  toolCallId: string
  abortSignal?: AbortSignal | undefined
}
type Execute = (input: unknown, options: ExecutionOptions) => unknown
type ExecutableTool = object & { execute: Execute }

const executionSchema = z.looseObject({
  toolCallId: z.string().min(1),
  abortSignal: z.instanceof(AbortSignal).optional(),
})

/**
 * @throws ErrandError INVALID_INPUT for a tool that is not an object, UNKNOWN_OPTION { option, nearest } for options of an
 *   unknown tool.
 */
function checkTools(tools: ToolsLike, named: Iterable<string>): void {
  for (const [name, tool] of Object.entries(tools)) {
    if (typeof tool === 'object' && tool !== null) continue
    throw new ErrandError(
      'INVALID_INPUT',
      `durable expects a language model or an object of tools by name, but the tool "${name}" is ${typeName(tool)}.`,
      { tool: name },
    )
  }
  const known = Object.keys(tools)
  for (const option of named) {
    if (known.includes(option)) continue
    const nearest = nearestName(option, known)
    throw new ErrandError(
      'UNKNOWN_OPTION',
      `durable has options for the tool "${option}", which does not exist.${nearest ? ` Did you mean "${nearest}"?` : ''} The tools are: ${known.join(', ')}.`,
      { option, nearest, known },
    )
  }
}

/** The same tools under the same names; those with `execute` are journaled. */
function durableTools<T extends ToolsLike>(run: Run, tools: T, settingsOf: (name: string) => CallSettings): T {
  const wrapped = Object.entries(tools).map(([name, tool]) => [
    name,
    isExecutable(tool) ? durableTool({ run, name, tool, settings: settingsOf(name) }) : tool,
  ])
  return Object.fromEntries(wrapped) as T
}

function isExecutable(tool: object): tool is ExecutableTool {
  return typeof (tool as Partial<ExecutableTool>).execute === 'function'
}

function durableTool(journaledTool: JournaledTool): ExecutableTool {
  const { tool } = journaledTool
  const way = isGenerator(tool.execute) ? stream : execute
  const durable: { execute: Execute } = { execute: (input, options) => way(journaledTool, input, options) }
  return Object.assign(Object.create(Object.getPrototypeOf(tool) as object | null) as object, tool, durable)
}

/** The SDK checks before the execution whether a tool streams its values. */
function isGenerator(execute: Execute): boolean {
  return Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]'
}

/** A tool and where its executions are recorded. */
interface JournaledTool {
  run: Run
  name: string
  tool: ExecutableTool
  settings: CallSettings
}

/** Resolves to the result, or to the recorded one in a repeated run. */
async function execute(
  { run, name, tool, settings }: JournaledTool,
  input: unknown,
  options: ExecutionOptions,
  onValue: (value: unknown) => void = () => {},
): Promise<unknown> {
  const { toolCallId, abortSignal } = parse(executionSchema, options, `the options of the tool "${name}"`)
  const outcome = await journaled<unknown>(run, {
    name,
    key: toolCallId,
    params: toImage(input, `the input of the tool "${name}"`),
    options: settings,
    perform: ({ signal }: CallContext) =>
      perform(tool, input, { ...options, abortSignal: anyOf(signal, abortSignal) }, onValue),
  })
  if (!outcome.ok) throw outcome.error
  return outcome.value
}

/**
 * Yields the values as they come; the last one, which is the result, after it is recorded. A repeated run yields only
 * that one.
 */
async function* stream(tool: JournaledTool, input: unknown, options: ExecutionOptions): AsyncGenerator<unknown, void> {
  const values: unknown[] = []
  let changed = Promise.withResolvers<void>()
  let isOver = false
  const notify = (): void => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const result = execute(tool, input, options, (value) => {
    values.push(value)
    notify()
  }).finally(() => {
    isOver = true
    notify()
  })
  result.catch(() => {})
  while (!isOver) {
    await changed.promise
    while (values.length > 1) yield values.shift()
  }
  yield await result
}

async function perform(
  tool: ExecutableTool,
  input: unknown,
  options: ExecutionOptions,
  onValue: (value: unknown) => void,
): Promise<Outcome<unknown>> {
  const given = tool.execute(input, options)
  if (!isAsyncIterable(given)) return { ok: true, value: await given }
  let last: unknown
  for await (const value of given) {
    last = value
    onValue(value)
  }
  return { ok: true, value: last }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator] === 'function'
}
