// What an executor is and what it is given: the definition, the run it talks to, and the options of each request. The types
// flow from here to `create`, `result` and `settled`.
import { z } from 'zod'
import { parse } from '../core/parse.ts'
import type { MessageRole } from '../entities/message.ts'
import type { Outcome, Task } from '../entities/task.ts'
import type { OnInterrupt, RetryPolicy } from '../entities/task-fields.ts'
import { retryPolicySchema, taskFields } from '../entities/task-fields.ts'

declare const resultType: unique symbol

/** The task as its executor sees it: `input` is parsed by the executor's schema. */
export type ExecutorTask<Input = unknown> = Omit<Task, 'input'> & { input: Input }

/** Options of `run.call`. */
export interface CallOptions {
  /** Identity in place of the params, when these are volatile. */
  key?: string
  /** What a crash in the middle of this call means for the next run. Default: the task's, the executor's, the engine's. */
  onInterrupt?: OnInterrupt
  /** Attempts of this call inside one run. Default: one. */
  retry?: Partial<RetryPolicy>
  /** Longest duration in milliseconds; beyond it the call fails with `TIMEOUT`. Default: none. */
  timeoutMs?: number
  /**
   * `allow`: a call that the journal does not know is made although completed calls have not been asked for again, and the event
   * `task.diverged` tells of it. Default: it is held back until they have been, and refused with `CALL_DIVERGED` if they never are.
   */
  divergence?: 'allow'
}

/** What the function of a call is given. */
export interface CallContext {
  /** Stable id of this execution: pass it to the outside world as its idempotency key. */
  callId: string
  /** The same for every repetition of this call, after a crash or in another attempt: what is made under it is made once. */
  identity: string
  /** Aborts when the run ends or the call times out. */
  signal: AbortSignal
  /** Notes details of a call in progress in the ledger; resolves when they are durable. */
  note(details: unknown): Promise<void>
}

/** A JSON Schema, or a zod schema of which one is made. */
export type AnswerSchema = z.ZodType | Record<string, unknown>

export interface AskOptions {
  key?: string
  /** Milliseconds until the default answers, or the question fails with `TIMEOUT` when there is none. */
  timeoutMs?: number
  /** The answer when nobody gives one: after `timeoutMs`, or when `answer` is called without a value. */
  default?: unknown
  /**
   * `person` (default): people and programs may answer; models, what they use, and runs of tasks may not (FORBIDDEN). `anyone`: they may.
   */
  for?: 'person' | 'anyone'
}

/** Options of `run.invoke`; what is left out, the ability itself says. */
export type InvokeOptions = CallOptions

export interface WaitOptions {
  key?: string
  /** `all` (default) waits for each, `any` for the first. */
  mode?: 'all' | 'any'
  /** True: outcomes instead of results, and nothing is thrown for a task that failed. Default false. */
  settled?: boolean
  /** Milliseconds until it fails with `TIMEOUT`. Default: none. */
  timeoutMs?: number
  /** Only with `settled`: a message that is sent to this task ends the wait too; tasks that are still open then give null. Default false. */
  untilMessage?: boolean
}

/** Options of `run.spawn`. */
export type SpawnOptions = Pick<CallOptions, 'key' | 'divergence'>

/** A child to spawn: the fields of `engine.create`, without a parent. */
export type SpawnSpec = Record<string, unknown> & { executor?: unknown; name?: string; input?: unknown }

/**
 * One stretch of WORKING. What is asked for here is recorded before it acts; a later run of the same task finds it again by
 * kind, name and params (or `key`), n-th among equals. After the run has ended every method rejects with `RUN_ENDED`.
 */
export interface Run {
  /** Counts from 1 within the task. */
  readonly number: number
  readonly attempt: number
  /** Aborts when the run ends: paused, canceled, timed out, let go. */
  readonly signal: AbortSignal

  /**
   * A journaled call: recorded before `fn` runs, its result (as its JSON image) after. A repeated run gets the recorded
   * outcome and does not run `fn` again.
   */
  call<R>(
    name: string,
    fn: (params: undefined, context: CallContext) => R | Promise<R>,
    options?: CallOptions,
  ): Promise<Awaited<R>>
  call<P, R>(
    name: string,
    params: P,
    fn: (params: P, context: CallContext) => R | Promise<R>,
    options?: CallOptions,
  ): Promise<Awaited<R>>

  /**
   * A call whose function is an ability of the bus, invoked as this task. Without options of its own it follows the ability's.
   * @throws ErrandError NOT_FOUND, INVALID_INPUT, FORBIDDEN, EXECUTION_ERROR: recorded like the failure of any call.
   */
  invoke<Out = unknown>(
    ability: string | { readonly id: string; readonly [resultType]?: Out },
    input?: unknown,
    options?: InvokeOptions,
  ): Promise<Out>

  /**
   * Appends to the task's conversation, once however often the run is repeated. Tokens are streamed live and stored once,
   * whole, when they end; nothing of them is stored if the run dies in between. Resolves to the message's id.
   */
  message(
    role: MessageRole,
    content: string | AsyncIterable<string> | Iterable<string>,
    options?: { key?: string },
  ): Promise<string>

  /** Live output. `store: true` keeps it in the ledger too, in batches. */
  emit(chunk: string, options?: { store?: boolean }): void

  /** Ends the run until the question is answered (INPUT_REQUIRED), by a person unless `for` says otherwise; the next run gets the answer here. */
  ask<T = unknown>(question: string, schema?: AnswerSchema | null, options?: AskOptions): Promise<T>

  /** `engine.create` with this task as parent, once however often the run is repeated. */
  spawn(task: SpawnSpec, options?: SpawnOptions): Promise<Task>
  spawn(tasks: SpawnSpec[], options?: SpawnOptions): Promise<Task[]>

  /** Ends the run until the tasks have settled (WAITING); the next run gets their results here, in order. */
  wait(
    tasks: string | { id: string } | ReadonlyArray<string | { id: string }>,
    options: WaitOptions & { settled: true; untilMessage: true },
  ): Promise<Array<Outcome | null>>
  wait(
    tasks: string | { id: string } | ReadonlyArray<string | { id: string }>,
    options: WaitOptions & { settled: true },
  ): Promise<Outcome[]>
  wait(
    tasks: string | { id: string } | ReadonlyArray<string | { id: string }>,
    options?: WaitOptions,
  ): Promise<unknown[]>

  /** Ends the run for so many milliseconds (WAITING); survives restarts. */
  sleep(ms: number, options?: { key?: string }): Promise<void>

  /** How far the run has come, 0 to 1. */
  progress(fraction: number, note?: string): Promise<void>

  /**
   * The time in epoch milliseconds. Recorded before it is given: a later run, and a new attempt, gets the same one for the n-th
   * time it asks, or under the same `key`. So it may stand in the params of a call. `uuid` and `random` are alike.
   */
  now(options?: { key?: string }): Promise<number>

  /** A random UUID (version 4), recorded like `now`. */
  uuid(options?: { key?: string }): Promise<string>

  /** A random number from 0 (included) to 1, recorded like `now`. */
  random(options?: { key?: string }): Promise<number>

  /** The tasks that this one comes after, settled, in the order in which they were named. */
  dependencies(): Promise<Task[]>
}

/** A plain function is an executor too; its input may be anything. */
export type ExecutorFunction<Input = any, Result = unknown> = (
  task: ExecutorTask<Input>,
  run: Run,
) => Result | Promise<Result>

/** What `defineExecutor` takes. */
export interface ExecutorDefinition<I extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  /** Parsed at creation (a bad input is refused) and again, with its defaults, when a run starts. */
  input?: I
  /** What `run` returns must fit, else the task fails with `INVALID_RESULT`. */
  result?: R
  /** Default for tasks that bring none of their own. Default: one attempt. */
  retry?: Partial<RetryPolicy>
  /** Longest run in milliseconds. Default: none. */
  timeoutMs?: number
  /** How many of its runs may be open in one engine at once. Default: as many as the engine allows. */
  concurrency?: number
  /** Default for its calls. Default: the engine's. */
  onInterrupt?: OnInterrupt
  /** Default for its calls and children: whether new ones are made although recorded ones have not been asked for again. Default: not. */
  divergence?: 'allow'
  /** So long may a run ask for nothing, in milliseconds, before a call that is held back is refused with `CALL_DIVERGED`. Default: 10,000. */
  divergenceWaitMs?: number
  /** What its input says is run as a command: models, and clients without the right, may not have it do anything. Default false. */
  runsCommands?: boolean
  /**
   * What its tasks come to is a person's answer: models may not complete or change such a task, nor let others go on without it. Default
   * false.
   */
  asksPeople?: boolean
  run: (task: ExecutorTask<z.output<I>>, run: Run) => z.input<R> | Promise<z.input<R>>
}

declare const inputType: unique symbol

/** What the engine must know of an agent before it runs. */
export interface AgentTraits {
  readonly instructions: string | undefined
  /** What its model may call; undefined for whatever its task may. */
  readonly abilities: readonly string[] | undefined
  /** The id of its model, or the model itself; undefined: the engine's. */
  readonly model: string | object | undefined
}

/**
 * Which tasks of an executor an engine can run now: all; `named`, those alone that name a model, where an agent has no other; none, for
 * an agent where there is no model at all; or the executor is unknown.
 */
export type RunnableTasks = 'all' | 'named' | 'none' | 'unknown'

/** An executor as the engine holds it. `In` is what `create` accepts, `Out` what `result` gives. */
export interface Executor<In = any, Out = any> {
  readonly input: z.ZodType | undefined
  readonly result: z.ZodType | undefined
  readonly retry: Partial<RetryPolicy> | undefined
  readonly timeoutMs: number | undefined
  readonly concurrency: number | undefined
  readonly onInterrupt: OnInterrupt | undefined
  readonly divergence: 'allow' | undefined
  readonly divergenceWaitMs: number | undefined
  /** What its input says is run as a command. */
  readonly runsCommands: boolean
  /** What its tasks come to is a person's answer. */
  readonly asksPeople: boolean
  /** What an agent is, for the engine around it; undefined for any other executor. */
  readonly agent: AgentTraits | undefined
  readonly run: (task: ExecutorTask<any>, run: Run) => unknown
  readonly [inputType]?: (input: In) => void
  readonly [resultType]?: Out
}

/** What `createEngine({ executors })` takes under each name. */
export type AnyExecutor = Executor<any, any> | ExecutorFunction<any, any>

/** What `create` accepts as input for an executor. */
export type InputOf<E> =
  E extends Executor<infer In, any>
    ? In
    : E extends (task: ExecutorTask<infer In>, ...rest: any[]) => unknown
      ? In
      : unknown
/** What `result` gives for an executor. */
export type ResultOf<E> =
  E extends Executor<any, infer Out> ? Out : E extends (...args: any[]) => infer Out ? Awaited<Out> : unknown

const executorMarker = Symbol.for('errand.executor')

/** The door for definitions. */
export const executorOptionsSchema = z.strictObject({
  input: z.custom<z.ZodType>((value) => value instanceof z.ZodType, 'expected a zod schema').optional(),
  result: z.custom<z.ZodType>((value) => value instanceof z.ZodType, 'expected a zod schema').optional(),
  retry: retryPolicySchema.optional(),
  timeoutMs: z.number().positive().optional(),
  concurrency: z.int().min(1).optional(),
  onInterrupt: taskFields.onInterrupt.schema.optional(),
  divergence: z.literal('allow').optional(),
  divergenceWaitMs: z.number().min(1).max(8.64e15).optional(),
  runsCommands: z.boolean().default(false),
  asksPeople: z.boolean().default(false),
  run: z.custom<ExecutorFunction>((value) => typeof value === 'function', 'expected a function (task, run) => result'),
})

/**
 * Declares an executor whose input and result are checked and typed.
 *
 * @example
 * const greet = defineExecutor({
 *   input: z.object({ name: z.string() }),
 *   result: z.object({ text: z.string() }),
 *   run: (task) => ({ text: `Hello ${task.input.name}` }),
 * })
 * @throws ErrandError UNKNOWN_OPTION { option, nearest } for a key that is not offered, INVALID_INPUT { issues } for a definition
 *   that is not one.
 */
export function defineExecutor<I extends z.ZodType = z.ZodAny, R extends z.ZodType = z.ZodAny>(
  definition: ExecutorDefinition<I, R>,
): Executor<z.input<I>, z.output<R>> {
  const checked = parse(executorOptionsSchema, definition, 'defineExecutor')
  return makeExecutor({
    input: checked.input,
    result: checked.result,
    retry: checked.retry as Partial<RetryPolicy> | undefined,
    timeoutMs: checked.timeoutMs,
    concurrency: checked.concurrency,
    onInterrupt: checked.onInterrupt,
    divergence: checked.divergence,
    divergenceWaitMs: checked.divergenceWaitMs,
    runsCommands: checked.runsCommands,
    asksPeople: checked.asksPeople,
    agent: undefined,
    run: checked.run as Executor['run'],
  })
}

/** Marks what is an executor, for any copy of the package. */
export function makeExecutor<In, Out>(executor: Executor<In, Out>): Executor<In, Out> {
  return Object.freeze(Object.defineProperty(executor, executorMarker, { value: true }))
}

/** True for what `defineExecutor` made, whichever copy of the package did. */
export function isExecutor(value: unknown): value is Executor {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[executorMarker] === true
}
