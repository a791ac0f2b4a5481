// Tools whose executions are journaled, passed to the AI SDK in place of the author's own. The id of a tool call is its
// identity; it is part of the recorded step, so a repeated run gets the same one.
import { z } from 'zod'
import { ErrandError, nearestName } from '../../core/errors.ts'
import { toImage } from '../../core/json-image.ts'
import { parse } from '../../core/parse.ts'
import { typeName } from '../../core/type-name.ts'
import type { CallContext, Run } from '../../entities/executor.ts'
import { anyOf, type CallSettings, journaled, type Outcome } from './journaled.ts'

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
export function checkTools(tools: ToolsLike, named: Iterable<string>): void {
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
export function durableTools<T extends ToolsLike>(run: Run, tools: T, settingsOf: (name: string) => CallSettings): T {
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
