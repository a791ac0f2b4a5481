// Executors: their definition, the `Run` that they receive, and the options of its methods. Types of `create` and `spawn`: `new-task.ts`.
import { z } from 'zod'
import type { Duration } from '../core/duration.ts'
import { durationSchema } from '../core/duration-schema.ts'
import { once } from '../core/once.ts'
import { parse, requireJsonInput, requireSync } from '../core/parse.ts'
import { zodSchema } from '../core/zod-schema.ts'
import type { CallContext, CallOptions } from './call-options.ts'
import { type HandlerTemplate, handlerSchema } from './handler.ts'
import type { MachineTraits } from './machine.ts'
import type { MessageRole } from './message.ts'
import type { CreatedTasks, Executors, GivenTasks, TypedExecutor } from './new-task.ts'
import type { EmitOptions } from './output.ts'
import type { Task } from './task.ts'
import { type OnInterrupt, type RetryOptions, type RetryPolicy, retrySchema, taskFields } from './task-fields.ts'
import type {
  AnswerSchema,
  AnswerTo,
  AskOptions,
  AwaitedRef,
  Received,
  SignalOptions,
  WaitedFor,
  WaitOptions,
  Webhook,
} from './wait-options.ts'

declare const resultType: unique symbol

/** The task that an executor receives: `input` is parsed by the executor's schema. */
export type ExecutorTask<Input = unknown> = Omit<Task, 'input'> & { input: Input }

/** Options of `run.invoke`. Defaults: the ability's. */
export type InvokeOptions = CallOptions

/** Options of `run.spawn`. */
export type SpawnOptions = Pick<CallOptions, 'key' | 'divergence'>

/** The engine of a run: `Engine`, which merges with this interface. */
// biome-ignore lint/suspicious/noEmptyInterface: it exists to be merged with.
export interface RunEngine {}

/**
 * One period of WORKING. Every request is recorded before it acts; a later run of the same task finds it again by kind, name and
 * params (or `key`), n-th among equals.
 *
 * A run that is paused, canceled or timed out, or whose engine closes, rejects its pending and further requests with `RUN_ENDED`. A run that
 * only waits (for `ask`, `wait`, `waitForSignal` or `sleep`, while nothing else is in flight) is suspended: its requests never settle, so neither `catch` nor
 * `finally` runs, and what the function returns or throws later is ignored. The next run begins the function anew. See `onSuspend`.
 */
export interface Run {
  /** Counts from 1 within the task. */
  readonly number: number
  readonly attempt: number
  /** Aborts when the run ends: suspended, paused, canceled, timed out, released. */
  readonly signal: AbortSignal
  /**
   * The engine of the run, with all its rights. What is requested of it is not recorded in the journal: a later run requests it again. Only
   * `result` and `settled` of a task below this one, outside of calls, are `run.wait(task, { inMemory: true })`, because the slot that the run
   * would keep may be the one that the task needs.
   */
  readonly engine: RunEngine

  /**
   * A journaled call: recorded before `fn` runs, and again with its result (as JSON) after. A later run receives the recorded
   * outcome and does not run `fn` again.
   *
   * Await it: a call in flight when the executor returns does not keep the task from completing. `onError` then gets a warning with the
   * names of these calls, as does the event `task.completed` (`inFlight`).
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
   * A call whose function is an ability of the bus, invoked as this task. Options default to the ability's.
   * @throws ErrandError NOT_FOUND, INVALID_INPUT, FORBIDDEN, EXECUTION_ERROR: recorded like the failure of any call.
   */
  invoke<Out = unknown>(
    ability: string | { readonly id: string; readonly [resultType]?: Out },
    input?: unknown,
    options?: InvokeOptions,
  ): Promise<Out>

  /**
   * Appends a message to the task's conversation, once for all runs. Tokens are streamed live and stored as one message when they
   * end; nothing is stored if the run dies before. Resolves to the message's id.
   */
  message(
    role: MessageRole,
    content: string | AsyncIterable<string> | Iterable<string>,
    options?: { key?: string },
  ): Promise<string>

  /** Publishes live output. `store: true` also stores it, in batches. `stream: 'stderr'` marks it as what a program prints to that stream. */
  emit(chunk: string, options?: EmitOptions): void

  /**
   * Ends the run until the question is answered (INPUT_REQUIRED), by a person unless `for` allows others; the next run receives the answer
   * here. With a zod schema it is the schema's output.
   */
  ask<T = unknown, S extends AnswerSchema | null | undefined = AnswerSchema | null>(
    question: string,
    schema?: S,
    options?: AskOptions,
  ): Promise<AnswerTo<S, T>>

  /**
   * `engine.create` with this task as parent, once for all runs: one task, or a list in one transaction. Results and inputs are typed by
   * executors that are given as values, and by the names that the program declares in `Executors`.
   */
  spawn<const G>(
    tasks: GivenTasks<DeclaredExecutors, G, object>,
    options?: SpawnOptions,
  ): Promise<CreatedTasks<DeclaredExecutors, G>>

  /**
   * Ends the run until the task has settled, or each of a list (WAITING). The next run receives its result here, or the list of results in
   * the same order; with `mode: 'any'` the result of a task that is still open is null.
   */
  wait<
    const T extends AwaitedRef | readonly AwaitedRef[],
    Settled extends boolean = false,
    Mode extends 'all' | 'any' = 'all',
    UntilMessage extends boolean = false,
  >(
    tasks: T,
    options?: WaitOptions & { settled?: Settled; mode?: Mode; untilMessage?: UntilMessage },
  ): Promise<WaitedFor<T, Settled, Mode, UntilMessage>>

  /**
   * Ends the run until a signal of this name is sent (`engine.signal`, WAITING); the next run receives its payload here. A signal that was
   * sent earlier is taken at once. Each is taken by one wait, in the order of arrival; of several waits the one that began first comes first.
   * After `timeoutMs` it is null. With a zod schema it is the schema's output.
   * @throws ErrandError INVALID_SIGNAL when the payload of a signal that was sent earlier does not match the schema. That signal is gone.
   */
  waitForSignal<
    T = unknown,
    S extends AnswerSchema | undefined = AnswerSchema | undefined,
    Ms extends Duration | undefined = undefined,
  >(name: string, options?: SignalOptions<S, Ms>): Promise<Received<S, T, Ms>>

  /**
   * An address for a service that calls back, with a random token, the same in every run. The server of the engine takes a POST there,
   * without other credentials, as the signal that `wait` waits for.
   */
  webhook<T = unknown, S extends AnswerSchema | undefined = AnswerSchema | undefined>(options?: {
    key?: string
    schema?: S
  }): Promise<Webhook<AnswerTo<S, T>>>

  /** Ends the run for `ms` milliseconds, or for a time like `10m` (WAITING); survives restarts. */
  sleep(ms: Duration, options?: { key?: string }): Promise<void>

  /**
   * Settles as the first of these requests does, a rejection included; the others are withdrawn: an open question is closed, and a signal is
   * left for the next wait. A later run gets the same winner. Takes what `ask`, `wait`, `waitForSignal` and `sleep` return, and what `then`
   * makes of it:
   *
   * @example
   * const answer = await run.race([
   *   run.ask('Which colour?', z.string()),
   *   run.sleep('1d').then(() => 'blue'),
   * ])
   *
   * Make the requests in the list: they begin together then, and after one that is over at once no other begins. A request that lost rejects
   * with `WITHDRAWN` if it is awaited.
   * @throws ErrandError INVALID_INPUT for anything else, such as a call, which cannot be withdrawn, and for an empty list.
   */
  race<T extends readonly unknown[] | []>(requests: T): Promise<Awaited<T[number]>>

  /**
   * Begins the next generation of the task when the function returns: `return run.continueAsNew(input)`. Its function begins anew with this
   * input and an empty journal, at attempt 1, in a slot that it gets like any ready task. What earlier generations recorded is never found
   * again, and stays readable (`engine.calls(task, { generation })`). The id, the key, the parent, the children and the signals that were
   * not taken stay; open questions and waits are closed. What the function requests after it is refused, and its result is ignored.
   * @throws ErrandError INVALID_INPUT when the executor's schema refuses the input: the generation goes on.
   */
  continueAsNew(input?: unknown): Promise<never>

  /**
   * Registers a function that releases what the run holds outside of the ledger (a connection, a lock, a temporary folder) if it is suspended
   * (`ask`, `wait`, `waitForSignal`, `sleep`); returns what unregisters it. At every other end of the run it is not called: there `finally` releases.
   *
   * All are called in the turn of the suspension, after `signal` has aborted, the one registered last first. An error is passed to `onError`.
   * The run is closed, and the next may begin, when the promises that they return have settled, or after `abortGraceMs`. A function that is
   * registered in a run that is suspended already is called at once, and nothing waits for it.
   */
  onSuspend(release: () => unknown): () => void

  /** Stores the progress of the run, 0 to 1. */
  progress(fraction: number, note?: string): Promise<void>

  /**
   * The time in epoch milliseconds. It is recorded before it is returned: a later run, and a new attempt, receives the same value from
   * its n-th call, or under the same `key`. So it may be part of the params of a call. `uuid` and `random` work alike.
   */
  now(options?: { key?: string }): Promise<number>

  /** A random UUID (version 4), recorded like `now`. */
  uuid(options?: { key?: string }): Promise<string>

  /** A random number from 0 (included) to 1, recorded like `now`. */
  random(options?: { key?: string }): Promise<number>

  /** The tasks that this one depends on, settled, in the order in which they were added. */
  dependencies(): Promise<Task[]>
}

/** A plain function is an executor too; its input may be anything. */
export type ExecutorFunction<Input = any, Result = unknown> = (
  task: ExecutorTask<Input>,
  run: Run,
) => Result | Promise<Result>

/** The argument of `defineExecutor`. */
export interface ExecutorDefinition<I extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  /** Parsed at creation (a bad input is refused) and again, with its defaults, when a run starts. */
  input?: I
  /** The schema of the value that `run` returns; the task fails with `INVALID_RESULT` when it does not match. */
  result?: R
  /** Default for tasks without a retry policy. Default: one attempt. */
  retry?: number | RetryOptions
  /** Maximum duration of a run in milliseconds. Default: none. */
  timeoutMs?: Duration
  /** Maximum of its runs that are open in one engine at the same time. Default: the engine's limit. */
  concurrency?: number
  /** Default for its calls. Default: the engine's. */
  onInterrupt?: OnInterrupt
  /** Default for its calls and children: `allow` makes new ones although recorded ones have not been replayed. Default: they are held back. */
  divergence?: 'allow'
  /** Milliseconds without a request of the run before a call that is held back fails with `CALL_DIVERGED`. Default: 10,000. */
  divergenceWaitMs?: Duration
  /** It runs its input as a command: models, and clients without the right to run commands, may not use it. Default false. */
  runsCommands?: boolean
  /** Its tasks are answers of people: models may not complete or change one, nor let others go on without it. Default false. */
  asksPeople?: boolean
  /** The task that is created when one of its tasks fails for good. Default: the engine's. */
  onFailure?: HandlerTemplate
  /** The task that is created when one of its tasks needs an answer. Default: the engine's. */
  onInputRequired?: HandlerTemplate
  /** The code of its tasks. It returns the result, as JSON. */
  run: (task: ExecutorTask<z.output<I>>, run: Run) => z.input<R> | Promise<z.input<R>>
}

/** The traits of an agent that the engine needs before a run. */
export interface AgentTraits {
  readonly instructions: string | undefined
  /** The abilities that its model may call; undefined for those of its task. */
  readonly abilities: readonly string[] | undefined
  /** The id of its model, or the model itself; undefined: the engine's. */
  readonly model: string | object | undefined
}

/**
 * Which tasks of an executor an engine can run now: `all`; `named`, only those that name a model, when the agent has none; `none`, when
 * there is no model at all; `unknown`, when the engine does not have the executor.
 */
export type RunnableTasks = 'all' | 'named' | 'none' | 'unknown'

/** An executor as the engine holds it. `In` is the input that `create` accepts, `Out` the type of `result`. */
export interface Executor<In = any, Out = any> extends TypedExecutor<In, Out> {
  readonly retry: Partial<RetryPolicy> | undefined
  readonly onFailure: HandlerTemplate | undefined
  readonly onInputRequired: HandlerTemplate | undefined
  readonly timeoutMs: number | undefined
  readonly concurrency: number | undefined
  readonly onInterrupt: OnInterrupt | undefined
  readonly divergence: 'allow' | undefined
  readonly divergenceWaitMs: number | undefined
  /** It runs its input as a command. */
  readonly runsCommands: boolean
  /** The result of its tasks is a person's answer. */
  readonly asksPeople: boolean
  /** Undefined for an executor that is not an agent. */
  readonly agent: AgentTraits | undefined
  /** Its tasks are machines (`errand/machine`). */
  readonly machine?: MachineTraits
  readonly run: (task: ExecutorTask<any>, run: Run) => unknown
}

/** A value of `createEngine({ executors })`. */
export type AnyExecutor = Executor<any, any> | ExecutorFunction<any, any>

/** Executors by name. */
export type ExecutorMap = Record<string, AnyExecutor>

/** What a program has declared in `Executors`; any executor if it has declared none. */
export type DeclaredExecutors = [keyof Executors] extends [never]
  ? ExecutorMap
  : { [K in keyof Executors]: Executors[K] extends AnyExecutor ? Executors[K] : never }

const executorMarker = Symbol.for('errand.executor')

/** Validates a definition. */
export const executorOptionsSchema = once(() =>
  z.strictObject({
    input: zodSchema.optional(),
    result: zodSchema.optional(),
    retry: retrySchema().optional(),
    timeoutMs: durationSchema({ min: 1 }).optional(),
    concurrency: z.int().min(1).optional(),
    onInterrupt: taskFields.onInterrupt.schema.optional(),
    divergence: z.literal('allow').optional(),
    divergenceWaitMs: durationSchema({ min: 1 }).optional(),
    runsCommands: z.boolean().default(false),
    asksPeople: z.boolean().default(false),
    onFailure: handlerSchema().optional(),
    onInputRequired: handlerSchema().optional(),
    run: z.custom<ExecutorFunction>(
      (value) => typeof value === 'function',
      'expected a function (task, run) => result',
    ),
  }),
)

/**
 * Declares an executor whose input and result are checked and typed.
 *
 * @example
 * const greet = defineExecutor({
 *   input: z.object({ name: z.string() }),
 *   result: z.object({ text: z.string() }),
 *   run: (task) => ({ text: `Hello ${task.input.name}` }),
 * })
 * @throws ErrandError UNKNOWN_OPTION { option, nearest } for an unknown key, INVALID_INPUT { issues } for an invalid definition.
 */
export function defineExecutor<I extends z.ZodType = z.ZodAny, R extends z.ZodType = z.ZodAny>(
  definition: ExecutorDefinition<I, R>,
): Executor<z.input<I>, z.output<R>> {
  const checked = parse(executorOptionsSchema, definition, 'defineExecutor')
  return makeExecutor({
    input: requireJsonInput(checked.input, 'The input schema of the executor'),
    result: requireSync(checked.result, 'The result schema of the executor'),
    retry: checked.retry as Partial<RetryPolicy> | undefined,
    timeoutMs: checked.timeoutMs,
    concurrency: checked.concurrency,
    onInterrupt: checked.onInterrupt,
    divergence: checked.divergence,
    divergenceWaitMs: checked.divergenceWaitMs,
    runsCommands: checked.runsCommands,
    asksPeople: checked.asksPeople,
    onFailure: checked.onFailure,
    onInputRequired: checked.onInputRequired,
    agent: undefined,
    run: checked.run as Executor['run'],
  })
}

const noHandlers = { onFailure: undefined, onInputRequired: undefined }

/** An executor of ours: its definition needs no validation, and its schemas are made when they are first used. */
export function ownExecutor<I extends z.ZodType, R extends z.ZodType>({
  input,
  result,
  ...traits
}: {
  input: () => I
  result: () => R
  run(task: ExecutorTask<z.output<I>>, run: Run): unknown
} & Partial<Pick<Executor, 'onInterrupt' | 'runsCommands' | 'asksPeople'>>): Executor<z.input<I>, z.output<R>> {
  return makeExecutor({
    get input() {
      return input()
    },
    get result() {
      return result()
    },
    retry: undefined,
    timeoutMs: undefined,
    concurrency: undefined,
    onInterrupt: undefined,
    divergence: undefined,
    divergenceWaitMs: undefined,
    runsCommands: false,
    asksPeople: false,
    ...noHandlers,
    agent: undefined,
    ...traits,
  })
}

/** Marks and freezes an executor, so that `isExecutor` recognizes it in every copy of the package. */
export function makeExecutor<In, Out>(executor: Executor<In, Out>): Executor<In, Out> {
  return Object.freeze(Object.defineProperty(executor, executorMarker, { value: true }))
}

/** True for an executor of any copy of the package. */
export function isExecutor(value: unknown): value is Executor {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[executorMarker] === true
}
