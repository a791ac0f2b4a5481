// The public shape of the engine: every method, its options, and the types that flow from an executor to a result.
/* oxlint-disable max-lines -- One interface, the engine, with its documentation. */

import type { InspectionObserver, InspectOptions } from '../actors/inspection-event.ts'
import type { EmbeddingModelLike } from '../agents/models/embedding-model.ts'
import type { LanguageModelLike } from '../agents/models/language-model.ts'
import type { Handled, HandleOptions } from '../agents/routing/handle.ts'
import type { Ability, AbilityDefinition } from '../bus/ability.ts'
import type { Bus } from '../bus/bus.ts'
import type { Clock } from '../core/clock.ts'
import type { Duration } from '../core/duration.ts'
import type { Ids } from '../core/ids.ts'
import type { RedactFunction } from '../core/redact.ts'
import type { BatchAction, BatchOptions, BatchResult } from '../entities/batch.ts'
import type { Call } from '../entities/call.ts'
import type { EventType, TaskEvent } from '../entities/event.ts'
import type { Executor, ExecutorMap } from '../entities/executor.ts'
import type { TaskFilterOptions } from '../entities/filter-options.ts'
import type { HandlerTemplate } from '../entities/handler.ts'
import type { Logger } from '../entities/logger.ts'
import type { TaskMachine } from '../entities/machine-view.ts'
import type { Message } from '../entities/message.ts'
import type { CreatedTasks, GivenTasks, RootFields } from '../entities/new-task.ts'
import type {
  ClaimOptions,
  ContradictsFunction,
  JudgeFunction,
  LikenessFunction,
  LimitsPatch,
  ListOptions,
  SharedLimitsPatch,
  TaskPatch,
} from '../entities/options.ts'
import type { PlanOptions, PlanRun } from '../entities/plan-run.ts'
import type { RunRecord } from '../entities/run.ts'
import type { Outcome, Task, TaskId } from '../entities/task.ts'
import type {
  AutoComplete,
  GivenFields,
  OnChildFailure,
  OnDependencyFailure,
  OnInterrupt,
  RetryOptions,
} from '../entities/task-fields.ts'
import type { Telemetry } from '../entities/telemetry.ts'
import type {
  EventHandler,
  Limits,
  StatusStore,
  StreamItem,
  TaskGraph,
  TaskPage,
  TaskRef,
  Why,
} from '../entities/views.ts'
import type { WebhookOptions } from '../entities/webhook-options.ts'
import type { AbilityMethods } from './ability-methods.ts'

export type {
  InspectedActor,
  InspectedSnapshot,
  InspectionEvent,
  InspectionListener,
  InspectionObserver,
  InspectOptions,
} from '../actors/inspection-event.ts'
export type { ExecutorMap } from '../entities/executor.ts'
export type * from '../entities/views.ts'

/** The options of `createEngine`. Every key is checked; an unknown one is refused with the nearest name. */
export interface EngineOptions<E extends ExecutorMap = ExecutorMap> {
  /** A path, `:memory:` (default), `postgres://user@host/database`, or a Ledger that the caller opened and closes. */
  ledger?: string | object
  /** By name; registered before recovery begins. */
  executors?: E
  /** The model of tasks that name none: an AI SDK language model object (spec v3 or v4), or a name that `resolveModel` resolves. */
  model?: LanguageModelLike | string
  /** Further models by name; `create({ model })` and `agent({ model })` may name them. */
  models?: Record<string, LanguageModelLike>
  /**
   * Returns the model for a name like `openai:gpt-5-mini` that is not registered. Models, MCP clients and clients without the scope `admin`
   * may only name registered models, the default, and the models of agents; it is not called for other names that they give.
   */
  resolveModel?: (id: string) => LanguageModelLike | undefined | Promise<LanguageModelLike | undefined>
  /** Your own abilities, registered on the bus beside the engine's. */
  abilities?: ReadonlyArray<AbilityDefinition<any, any> | Ability>
  /** The bus on which the engine's abilities are registered until `close`. Default: a new bus. */
  bus?: Bus
  /** Maximum of model steps in one attempt of a task. Default 10. */
  maxIterations?: number
  /** Whether the tools that a model calls in one turn run at the same time or one after the other. Default `parallel`. */
  toolExecution?: 'parallel' | 'sequential'
  /**
   * How often a model step is tried, and the delay between tries. Defaults: 3 tries, with a jittered delay of 500 ms that doubles,
   * after rate limits and failures of the provider or of the connection.
   */
  modelRetry?: number | RetryOptions
  /**
   * How long the stream of a model may be silent, in milliseconds or as `'10m'`; then it counts as broken, and the step is tried again. Default
   * five minutes.
   */
  modelIdleTimeoutMs?: Duration
  /** Whether failed tasks are passed to `mem:save` too, where that ability exists. Default true. */
  archiveFailed?: boolean
  /** How facts are compared, judged and kept (`mem:*`, and the memory of teams). `false`: no `mem:*`, for users with abilities of their own. */
  memory?: MemoryOptions | false
  /**
   * Offers `plan:run`, by which clients with the right to run commands run plans (`POST /plans`, and a tool of MCP servers that name it).
   * Their commands begin in the folder `root` or below it, which is not a fence: they have the rights of the process. Default: not offered.
   */
  plans?: { root: string }
  /**
   * The address at which services reach the routes of this engine, like `https://tasks.example.org/errand`: the `url` of a webhook begins with
   * it. Default: none, and the `url` is a path.
   */
  publicUrl?: string
  /**
   * Addresses to which events are posted, at least once each, signed as Standard Webhooks have it. `seq` in the body is the order of the events. Each
   * delivery is a system task that is tried for three days. Default: none.
   */
  webhooks?: readonly WebhookOptions[]
  /** Answers `model:embed`: an AI SDK embedding model object (spec v3 or v4). Memory uses it only with `memory.similarity: 'embeddings'`. */
  embeddingModel?: EmbeddingModelLike
  /** Maximum of executor runs that are open in this engine at the same time. Default 10. */
  maxConcurrent?: number
  /** The same for single executors, by name. */
  limits?: { [K in keyof E]?: number }
  /** False: tasks wait for `start` or `startHeld`. Default true. */
  autoStart?: boolean
  /**
   * A parent whose own work is done is completed by its children: when all are completed (`true`), or when all have settled, with
   * any outcome (`all-settled`). Default false.
   */
  autoComplete?: AutoComplete
  /** What the next run does about an interrupted call (by a crash, or because its run ended first). Default `fail`. */
  onInterrupt?: OnInterrupt
  /**
   * The task that is created in the same transaction when a task fails for good, in whatever process, like `{ executor: 'notify' }`. It is a system
   * task. Stored with each task at its creation, where neither the task nor its executor has one. Default: none.
   */
  onFailure?: HandlerTemplate
  /** The same when a task needs the answer of a person. */
  onInputRequired?: HandlerTemplate
  /** What the final failure of a child means for its parent. Default `ignore`. */
  onChildFailure?: OnChildFailure
  /** What a dependency that failed or was canceled means for the tasks that depend on it. Default `block`. */
  onDependencyFailure?: OnDependencyFailure
  /** Maximum level below a root at which a task may be created. Default 10,000. */
  maxDepth?: number
  /** Maximum of children of one task, deleted ones included. Default 1,000,000. */
  maxChildren?: number
  /** Families that have been settled for this time are removed from the ledger, in milliseconds. Default: none are. */
  retentionMs?: Duration
  /** An engine that has not renewed its lease for this time counts as lost, and other engines take over its tasks, in milliseconds. Default 30,000. */
  leaseMs?: Duration
  /** Consecutive runs that may crash with nothing recorded, the last of them alone in its engine, before the task fails as `POISONED`. Default 3. */
  maxCrashes?: number
  /**
   * How long an executor and the functions of its calls may ignore their aborted signal before the run is closed and its slot is
   * freed, in milliseconds. It does not bound commands: these are killed after `killGraceMs`, and the run is closed after they have
   * ended. Default 5000.
   */
  abortGraceMs?: Duration
  /**
   * How long `close` waits for calls in flight, in milliseconds; calls that take longer are interrupted. While another process holds
   * the ledger's write lock, `close` may take this time for each of its four parts. Default 5000.
   */
  shutdownTimeoutMs?: Duration
  /** False: a producer, which runs no tasks until `work()` is called. Default true. */
  work?: boolean
  /** Receives every inspection event of the live actors, from the start. `engine.inspect` attaches an observer later. */
  inspect?: InspectionObserver
  /** Receives errors that have no caller: a subscriber that threw, a part of a result that JSON cannot carry. Default: `console.error`. */
  onError?: (error: unknown, context: Record<string, unknown>) => void
  /**
   * Receives lines about the work of this engine: how runs begin and end, retries, what is taken over, errors without a caller. pino and
   * `console` fit as they are: it is called as `logger.info({ taskId, executor, … }, 'task completed')`. Lines have ids, names of executors,
   * codes and durations, and no content of tasks. What it throws is printed once and changes nothing. Default: none.
   */
  logger?: Logger
  /**
   * Traces runs, calls and steps of models: `otel()` of `errand/otel`. Tasks that are created meanwhile keep the `traceparent` of what created
   * them. Default: none.
   */
  telemetry?: Telemetry
  /**
   * Called with every value from users, programs, models and commands (inputs, results, errors, messages, notes, facts, output, …),
   * before it is stored, published or logged, and before anything acts on it; the returned value replaces it permanently. `path` is its
   * position: `['task', 'input', 'apiKey']`, `['call', 'result', '0']`, `['log', 'error', 'message']`. It is called with an object or an
   * array first, then with each value inside, and for a text that is JSON with each value inside. It does not receive ids, keys, names
   * of executors, owners and tags.
   *
   * It must be pure, fast and idempotent, and must not modify its argument: it receives a value again whenever that is written again.
   * When it throws or returns undefined, the write fails with REDACT_FAILED and nothing is stored; an error that it cannot redact is
   * replaced by one with that code. With a hook the tokens of a model are not streamed: a message is published when it is complete.
   * See docs/guides/secrets.md. Default: none.
   */
  redact?: RedactFunction
  /** The clock, for tests: a `SimulatedClock` of `errand/testing`. With a ledger on a server it only arms timers. Default: that of the system. */
  clock?: Clock
  /** The source of ids and random numbers, for tests. Default: random ids. */
  ids?: Ids
}

/** The options of `engine.work`. */
export interface WorkOptions {
  /**
   * Runs only the tasks of the trees whose root has one of `rootKeys`, or a key that begins with one of `rootKeyPrefixes` (both default to
   * none), and leaves all others to other engines. Timers, recovery and deadlines cover the whole ledger. Default: all tasks.
   */
  only?: { rootKeys?: readonly string[]; rootKeyPrefixes?: readonly string[] } | undefined
}

/** The option `memory`. */
export interface MemoryOptions {
  /**
   * The similarity of two texts, 0 to 1: by the words that they share (`jaccard`, the default), by their vectors (`embeddings`, through
   * `model:embed`), or by a function. When it throws or returns another value, the operation fails with EXECUTION_ERROR and changes nothing.
   */
  similarity?: 'jaccard' | 'embeddings' | LikenessFunction
  /** Two texts with a similarity above it (not equal to it) count as duplicates. Default 0.85, for embeddings 0.92. */
  threshold?: number
  /** Which facts a function compares: all of a branch (the default), or those that share a word. Only with a function. */
  candidates?: 'all' | 'words'
  /** The confidence from which a fact may be durable, 0 to 1. Default 0.8. A task may set its own. */
  durableThreshold?: number
  /** Categories of durable facts (`arch` is short for `architecture`). Default: bug_fix, architecture, pattern, decision, security, performance. */
  durableCategories?: string[]
  /** Assign a category to an insight by its words. The first rule that matches decides; without a match it is `insight`. Default: built in. */
  categoryRules?: ReadonlyArray<{ category: string; words: string[] }>
  /** A session with this number of unconsolidated observations is consolidated at once. Default: never by number. */
  consolidateEvery?: number
  /**
   * How a contradiction between two facts is resolved: keep and flag both (`keep-both`, the default), keep the one with the higher
   * confidence (the newer of equals), keep the newer one, or as a function decides. Every decision is recorded in the history.
   */
  onContradiction?: 'keep-both' | 'highest-confidence' | 'newest' | JudgeFunction
  /** Finds contradictions that numbers and negations do not show, among facts that share words or the subject. Default: none. */
  contradicts?: ContradictsFunction
  /** Whether ended tasks of agents are passed to the built-in `mem:save` and `mem:archive`. Default false. Your own always receive them. */
  archive?: boolean
}

/** The fields of `create`. */
export interface CreateOptions<In = unknown> extends Omit<GivenFields<'create'>, 'executor' | 'input'> {
  input?: In
  /** Children by local name; `after` names siblings. Without executor and goal this makes a group. At most 128 levels at once. */
  tasks?: Record<string, ChildOptions>
}

export interface ChildOptions extends Omit<CreateOptions, 'tasks' | 'parentId'> {
  executor?: string | Executor
  after?: string | string[]
  tasks?: Record<string, ChildOptions>
}

/** The writer of a claimed task. The task that `claim` returned carries it. */
export interface ClaimToken {
  owner?: string
  /** Number of the claim; required with a lease. */
  fence?: number
}

/** How long to wait for a task. */
export interface WaitingOptions {
  /** Milliseconds, after which it rejects with TIMEOUT. Default: no timeout. */
  timeoutMs?: Duration
  /** Ends the wait when it aborts. */
  signal?: AbortSignal
}

/**
 * The engine. Every method that changes a task returns the changed task. Every refusal throws an `ErrandError`.
 * Methods accept an id or a task; an unknown id throws `NOT_FOUND`, except for `get` (null) and `delete` (false).
 */
export interface Engine<E extends ExecutorMap = ExecutorMap> extends AbilityMethods {
  /** The instance's id in the ledger. */
  readonly instanceId: string
  /** The bus with the engine's abilities and your own. */
  readonly bus: Bus

  /**
   * Creates a task, a tree of tasks, or a list of them, in one transaction. An engine without executors is a producer and may name any
   * executor. `input` and `metadata` are stored as JSON: a Date, or another object with `toJSON`, as what that returns, and a property
   * that is undefined not at all. A function, a Map, NaN, a BigInt, undefined in a list, a circle, and an object of a class without
   * `toJSON` are refused.
   *
   * @throws ErrandError INVALID_INPUT { path } for what JSON cannot carry; UNKNOWN_OPTION, UNKNOWN_EXECUTOR, NOT_FOUND, CYCLE,
   *   KEY_CONFLICT, PARENT_CLOSED, LIMIT_EXCEEDED. Nothing has been written then.
   */
  create<const G>(given: GivenTasks<E, G, RootFields>): Promise<CreatedTasks<E, G>>

  get<R = unknown>(task: TaskRef<R>): Promise<Task<R> | null>
  /**
   * Finds a task by its id, by `#seq`, or by a unique prefix of its id (with or without `task-`); null when there is none.
   * @throws ErrandError INVALID_INPUT { candidates } when several ids begin with the prefix.
   */
  find(ref: string): Promise<Task | null>
  /**
   * By priority, highest first, then by age, oldest first. Where `parentId`, `keyPrefix` or `status` leave few tasks, only these are read;
   * otherwise, and for `total`, the tasks of the ledger are read in parts, between which other work has its turn.
   */
  list(options?: ListOptions): Promise<TaskPage>
  /**
   * Changes all tasks that a filter finds, oldest first, some hundred at a time, each in a transaction of its own: a refusal does not stop the
   * others. Without `status` these are the tasks in whose state the action has an effect: `retry` finds failed ones. Only tasks that had
   * ended (or, if open, were created) before it began are changed: give the `before` of the result as `filter.before` to continue a batch whose
   * process has died.
   *
   * `dryRun`: only counts. `reason`: for `cancel`. `children`: for `delete`, as there. `divergence`: for `retry`. `signal` stops it between two parts.
   * @throws ErrandError INVALID_INPUT for an option without effect; the failure of the ledger.
   */
  batch(action: BatchAction, filter: TaskFilterOptions, options?: BatchOptions): Promise<BatchResult>
  children(task: TaskRef): Promise<Task[]>
  /** All descendants, without the task itself. */
  subtree(task: TaskRef): Promise<Task[]>
  /** All dependencies of a task, satisfied or not, in the order in which they were added; `blockedBy` holds the open ones. */
  dependencies(task: TaskRef): Promise<Task[]>
  /** Oldest first, of all generations of the task or of one. */
  calls(task: TaskRef, options?: { generation?: number }): Promise<Call[]>
  messages(task: TaskRef): Promise<Message[]>
  /** Oldest first, of all generations of the task or of one. */
  runs(task: TaskRef, options?: { generation?: number }): Promise<RunRecord[]>

  update(task: TaskRef, patch: TaskPatch): Promise<Task>
  /** Deletes a task. Its children become roots (default), are deleted too (`cascade`), or prevent it (`refuse`). False for an unknown id. */
  delete(task: TaskRef, options?: { children?: 'promote' | 'cascade' | 'refuse' }): Promise<boolean>

  /** SUBMITTED only. With an executor the task is queued for a slot; without one it becomes WORKING. */
  start(task: TaskRef): Promise<Task>
  /** WORKING only. */
  pause(task: TaskRef): Promise<Task>
  /** PAUSED only. The task runs as soon as a slot is free. */
  resume(task: TaskRef): Promise<Task>
  /** Cancels the task and every open descendant. */
  cancel(task: TaskRef, reason?: string): Promise<Task>
  /**
   * FAILED only. Starts a new attempt. `divergence: 'allow'` lets it make calls that are not in the journal although recorded ones
   * have not been replayed; each such call records `task.diverged`. `repeat`: ids of completed calls of the executor that it makes again,
   * for example because their results were lost. Both apply until the next manual retry.
   * @throws ErrandError NOT_FOUND, INVALID_INPUT for a call in `repeat` that cannot be made again.
   */
  retry(task: TaskRef, options?: { divergence?: 'allow'; repeat?: readonly string[] }): Promise<Task>
  /**
   * Creates a task that begins with what this one has recorded in its present generation, up to a point, and goes on from there; the original
   * stays as it is. It replays completed calls, answers and messages, refers to the children that the original has spawned, and has no parent,
   * except that of a fork that a run creates.
   *
   * `at`: the id of the call, or of the message of a model step, that it makes itself; `failure`: the one that failed last. Default: the failed
   * call of a failed task, else the last completed one; for an agent the last step of its model. `result`: what that call returned, in place of
   * making it. `input`: another input; what the task then requests as before is replayed. `model`, `prompt`: for agents, another model or other
   * instructions.
   * @throws ErrandError NOT_FOUND for an unknown call; INVALID_INPUT for a call inside another one, an option without effect, a group, a task
   *   without an executor, and a task that works in a team.
   */
  fork(
    task: TaskRef,
    options?: { at?: string; result?: unknown; input?: unknown; model?: string; prompt?: string },
  ): Promise<Task>
  /** WORKING only; a claimed task by its owner only. Open children are not changed. */
  complete(task: TaskRef, result?: unknown, options?: ClaimToken): Promise<Task>
  /** Like `complete`. `code` is the code of the error, default `TASK_FAILED`. The failure is final: retry policies do not apply. */
  fail(task: TaskRef, reason: string, options?: ClaimToken & { code?: string }): Promise<Task>
  /**
   * INPUT_REQUIRED only. Without a value the question's default is the answer. The event `task.answered` records who answered (`answeredBy`).
   * @throws ErrandError FORBIDDEN for a question to a person when a run or its model answers.
   */
  answer(task: TaskRef, value?: unknown, options?: { question?: string }): Promise<Task>
  /**
   * Appends a user message to the task's conversation. An agent reads it before its next step (`steer`, the default), or when it would
   * otherwise end (`followup`); with `abort` the task is PAUSED at once and reads it when it is resumed. The message answers the open
   * question if that accepts plain text from the sender, and ends `wait_for_tasks`. A paused task stays paused.
   *
   * @throws ErrandError INVALID_TRANSITION for a settled task; with `retry: true` a failed one gets a new attempt.
   */
  send(
    task: TaskRef,
    message: string,
    options?: { delivery?: 'steer' | 'followup' | 'abort' | undefined; retry?: boolean | undefined },
  ): Promise<Task>
  /**
   * Sends a task what it waits for by this name: `run.waitForSignal(name)` returns the payload (default: true). A signal that no wait
   * takes at once is kept until one begins, in the order of arrival. `id`: a signal of this name that was sent with this id is not sent
   * again.
   *
   * @throws ErrandError INVALID_TRANSITION for a settled task; INVALID_SIGNAL when a wait is open whose schema the payload does not match;
   *   LIMIT_EXCEEDED for a payload above 256 kB, or when 1,000 signals are kept.
   */
  signal(task: TaskRef, name: string, payload?: unknown, options?: { id?: string }): Promise<Task>
  /**
   * Sends an event to a task whose executor is a machine (`errand/machine`): `signal` with its type as the name and the event as the payload,
   * with the same errors. Also from an engine that does not have the machine. `id`: an event of this type that was sent with this id is not
   * sent again.
   *
   * @example
   * await engine.sendEvent<EventFrom<typeof order>>(task, { type: 'PAY', card: 'tok_1' }, { id: 'payment-17' })
   */
  sendEvent<E extends { type: string } = { type: string; [field: string]: unknown }>(
    task: TaskRef,
    event: E,
    options?: { id?: string },
  ): Promise<Task>
  /**
   * Handles a message: delivers it to the task that it mentions (`@task-…`), carries out the command that it contains (pause, cancel,
   * list, …), delivers it to the task that it belongs to, or creates a new task. The result says which.
   */
  handle(message: string, options?: HandleOptions): Promise<Handled>
  why(task: TaskRef): Promise<Why>
  /**
   * The machine of a task (`machine` of `errand/machine`): its state, its context, what it accepts, its latest moves and its chart; null for a
   * task without one, and before its first run.
   */
  machine(task: TaskRef): Promise<TaskMachine | null>

  /**
   * Runs a plan: a YAML or JSON file, or its content as a value, which then needs a `name`. Resolves when the tasks of the round exist. Run
   * again, it goes on with the round: completed tasks stay, failed ones get a new attempt. `errand run` finds the rounds of the same file.
   * The engine needs the executors that the plan names: `shell` for `run`, `ask` for `ask`.
   *
   * @throws ErrandError INVALID_PLAN { file, line, column } or { path }, NOT_FOUND for a file or task that does not exist, and what `create` throws.
   * @example
   * const { settled } = await engine.plan('release.yaml', { targets: ['publish'] })
   * const { status } = await settled()
   */
  plan(source: string | object, options?: PlanOptions): Promise<PlanRun>

  /**
   * Claims a task without an executor for an outside worker, in one transaction. With null it claims the claimable task with the
   * highest priority, then the oldest (filtered by parent, role and tags), and returns null when there is none. Tags are compared with
   * each claimable task of the role in this order until one matches; if thousands do not, they are searched outside of the transaction.
   * With `leaseMs` the claim lapses unless its owner writes in time, and every write must pass the fence, which the returned task carries.
   * @throws ErrandError BLOCKED { blockedBy }, NOT_CLAIMABLE { reason, status, owner } for a given task.
   */
  claim(task: null, options: ClaimOptions): Promise<Task | null>
  claim(task: TaskRef, options: ClaimOptions): Promise<Task>
  /** Renews the lease of the owner. @throws ErrandError STALE_CLAIM, NOT_OWNER, NOT_CLAIMABLE */
  heartbeat(task: TaskRef, options?: ClaimToken): Promise<Task>
  /** The owner releases the task: it is WAITING, `released`, and may be claimed again. A task that is not WORKING keeps its state. */
  release(task: TaskRef, options?: ClaimToken & { reason?: string }): Promise<Task>

  /** Adds dependencies to a task that is not WORKING; a group passes them on to its children. @throws ErrandError CYCLE */
  block(task: TaskRef, blockers: TaskRef | readonly TaskRef[]): Promise<Task>
  /** Removes dependencies. */
  unblock(task: TaskRef, blockers: TaskRef | readonly TaskRef[]): Promise<Task>
  /**
   * The open tasks (below a parent, or all) in topological order, and which of them block the most others.
   * @throws ErrandError LIMIT_EXCEEDED for more than 5,000 of them.
   */
  graph(options?: { parentId?: string }): Promise<TaskGraph>

  /** The result; throws TaskFailedError, TaskCanceledError, or TIMEOUT. */
  result<R = unknown>(task: TaskId<R> | { id: TaskId<R> }, options?: WaitingOptions): Promise<R>
  result<R = unknown>(task: string, options?: WaitingOptions): Promise<R>
  /** The outcome as a union on `status`; rejects with TIMEOUT when the task is still open after `timeoutMs`. */
  settled<R = unknown>(task: TaskId<R> | { id: TaskId<R> }, options?: WaitingOptions): Promise<Outcome<R>>
  settled<R = unknown>(task: string, options?: WaitingOptions): Promise<Outcome<R>>
  /** Replays the task from the start (or after a position), then follows it live, and ends with exactly one `end`. */
  stream(task: TaskRef, options?: { after?: number; signal?: AbortSignal }): AsyncIterableIterator<StreamItem>
  /**
   * The durable feed of all events, after a cursor (0: from the beginning); ends with `signal` or `close`. Throws `CURSOR_AHEAD` for a
   * cursor that the ledger has not reached, as after the restore of an older copy; so does `stream`.
   */
  events(options?: {
    after?: number
    signal?: AbortSignal
    follow?: boolean
    taskId?: string
  }): AsyncIterableIterator<TaskEvent>
  /** Live events only. Handlers of an event run in the order of subscription, each awaited; an error in one does not stop the others. */
  subscribe(type: EventType | '*', handler: EventHandler): () => void
  /**
   * Attaches an inspector. It receives every live actor (the engine's supervisor, the working tasks, their runs), then every event and
   * state as XState inspection events, until the returned function is called. Errors that it throws are passed to `onError`. Without an
   * inspector no events are created. Events are not redacted; `errand/inspect` redacts those that leave the process.
   *
   * @example
   * const inspector = createWebSocketInspector({ url: 'ws://localhost:8080' }) // @statelyai/inspect
   * const detach = engine.inspect(inspector.inspect)
   */
  inspect(observer: InspectionObserver, options?: InspectOptions): () => void

  /**
   * Starts the tasks that are held only by `autoStart: false`, some hundred in a transaction; resolves with them, and with those that were
   * ready, when the engine is idle.
   */
  startHeld(): Promise<Task[]>
  /**
   * Resolves when no task that this engine may run is ready, running or on a timer. With a `SimulatedClock`: when nothing goes on in the
   * engines on this clock until the clock is moved or something comes from outside.
   *
   * `system`: also none of the system tasks, such as deliveries of webhooks; default false.
   */
  idle(options?: { system?: boolean }): Promise<void>
  /** Starts running tasks in a producer (`work: false`). No effect on an engine that already does. @throws ErrandError INVALID_INPUT */
  work(options?: WorkOptions): Promise<void>
  /** The read model: counts by state, slots, current runs, the queue, the last event. Kept up to date from the first access on. */
  readonly status: StatusStore
  /** Changes the limits of this engine; open runs are not ended. null removes an executor's limit. */
  setLimits(limits: LimitsPatch): Promise<Limits>
  /** Changes the limits that all engines on this ledger share, in addition to their own; null removes one. */
  setSharedLimits(limits: SharedLimitsPatch): Promise<Limits>
  limits(): Promise<Limits>
  /**
   * Removes families (a root and its descendants) that have been settled since before a time, in epoch milliseconds, and on which no
   * open task depends. Their events are removed too: an older cursor throws `CURSOR_TOO_OLD`. A family leaves in short transactions, so
   * reads may show a part of it. Until all of it is gone its tasks cannot be changed (`PURGED`), and its keys are free. If the process
   * ends before, the next purge, or the next engine that works, removes the rest; a purge that did has `finishedEarlier`. Its tasks were
   * counted by the purge that began.
   */
  purge(options: {
    before: number
  }): Promise<{ tasks: number; families: number; events: number; finishedEarlier?: true }>
  /**
   * Stops admitting tasks, ends runs between their calls, and waits at most `shutdownTimeoutMs` for calls in flight. A call that takes
   * longer is interrupted as by a crash: `onInterrupt` sets what the next run does about it, and `fail` fails the task. `close` may
   * take slightly longer than the timeout, and twice the timeout when a subscriber does not return.
   */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
