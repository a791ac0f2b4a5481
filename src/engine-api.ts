// The public shape of the engine: every method, its options, and the types that flow from an executor to a result.
import type { AbilityMethods } from './ability-methods.ts'
import type { InspectionObserver, InspectOptions } from './actors/inspection-event.ts'
import type { AnyExecutor, Executor, InputOf, ResultOf } from './api/executor.ts'
import type {
  ClaimOptions,
  ContradictsFunction,
  JudgeFunction,
  LikenessFunction,
  LimitsPatch,
  ListOptions,
  SharedLimitsPatch,
  TaskPatch,
} from './api/options.ts'
import type { PlanOptions, PlanRun } from './api/plan-run.ts'
import type { EventHandler, Limits, StatusStore, StreamItem, TaskGraph, TaskPage, TaskRef, Why } from './api/views.ts'
import type { Ability, AbilityDefinition } from './bus/ability.ts'
import type { Bus } from './bus/bus.ts'
import type { Clock } from './core/clock.ts'
import type { Ids } from './core/ids.ts'
import type { RedactFunction } from './core/redact.ts'
import type { Call } from './entities/call.ts'
import type { EventType, TaskEvent } from './entities/event.ts'
import type { Message } from './entities/message.ts'
import type { RunRecord } from './entities/run.ts'
import type { Outcome, Task, TaskId } from './entities/task.ts'
import type {
  AutoComplete,
  GivenFields,
  OnChildFailure,
  OnDependencyFailure,
  OnInterrupt,
  RetryPolicy,
} from './entities/task-fields.ts'
import type { EmbeddingModelLike } from './models/embedding-model.ts'
import type { LanguageModelLike } from './models/language-model.ts'
import type { Handled, HandleOptions } from './routing/handle.ts'

export type {
  InspectedActor,
  InspectedSnapshot,
  InspectionEvent,
  InspectionListener,
  InspectionObserver,
  InspectOptions,
} from './actors/inspection-event.ts'
export type * from './api/views.ts'

export type Executors = Record<string, AnyExecutor>

/** The options of `createEngine`. Every key is checked; an unknown one is refused with the nearest name. */
export interface EngineOptions<E extends Executors = Executors> {
  /** A path, `:memory:` (default), or a Ledger that the caller opened and closes. */
  ledger?: string | object
  /** By name; known before recovery begins. */
  executors?: E
  /** The model of tasks that name none: an AI SDK language model object (spec v3 or v4), or a name that `resolveModel` knows. */
  model?: LanguageModelLike | string
  /** Further models by name; `create({ model })` and `agent({ model })` may name them. */
  models?: Record<string, LanguageModelLike>
  /**
   * Makes a model of a name like `openai:gpt-5-mini` that nobody registered. Models, MCP clients and clients without the scope `admin` may
   * only name registered models, the default, and the models of agents: it is not asked for any other name of theirs.
   */
  resolveModel?: (id: string) => LanguageModelLike | undefined | Promise<LanguageModelLike | undefined>
  /** Abilities of the embedder's own, put on the bus beside the engine's. */
  abilities?: ReadonlyArray<AbilityDefinition<any, any> | Ability>
  /** The bus to work on; the engine's abilities stand on it until `close`. Default: one of its own. */
  bus?: Bus
  /** Steps that a model may take in one attempt of a task. Default 10. */
  maxIterations?: number
  /** Whether the tools that a model calls in one turn run at once or one after the other. Default `parallel`. */
  toolExecution?: 'parallel' | 'sequential'
  /**
   * How often a step of a model is tried, and how long it rests in between. What is left out: 3 tries, resting 500 ms and then
   * twice as long (jittered), after rate limits, failures of the provider or of the connection.
   */
  modelRetry?: Partial<RetryPolicy>
  /** Whether what failed is given to memory too, when there is one (`mem:save`). Default true. */
  archiveFailed?: boolean
  /** How facts are compared, judged and kept (`mem:*`, and what teams learn). `false`: no `mem:*`, for whoever brings abilities of their own. */
  memory?: MemoryOptions | false
  /**
   * Offers `plan:run`, by which clients with the right to run commands run plans (`POST /plans`, and a tool of MCP servers that name it).
   * Their commands begin in the folder `root` or below it, which is no fence: they have the rights of the process. Default: not offered.
   */
  plans?: { root: string }
  /** Answers `model:embed`: an AI SDK embedding model object (spec v3 or v4). Memory asks it only with `memory.similarity: 'embeddings'`. */
  embeddingModel?: EmbeddingModelLike
  /** Open executor runs in this engine at once. Default 10. */
  maxConcurrent?: number
  /** The same for single executors, by name. */
  limits?: { [K in keyof E]?: number }
  /** False: tasks wait for `start` or `schedule`. Default true. */
  autoStart?: boolean
  /**
   * A parent is completed by its children once its own work is done: when all are completed (`true`), or when all have settled,
   * whatever they came to (`all-settled`). Default false.
   */
  autoComplete?: AutoComplete
  /** What a call that was interrupted (by a crash, or because its run ended before it) means for the next run. Default `fail`. */
  onInterrupt?: OnInterrupt
  /** What the final failure of a child means for its parent. Default `ignore`. */
  onChildFailure?: OnChildFailure
  /** What a dependency that failed or was canceled means for who comes after it. Default `block`. */
  onDependencyFailure?: OnDependencyFailure
  /** Levels below a root that a task may be created at. Default 10,000. */
  maxDepth?: number
  /** Children that one task may be given, deleted ones included. Default 1,000,000. */
  maxChildren?: number
  /** Families that have been settled for so many milliseconds leave the ledger. Default: nothing ever does. */
  retentionMs?: number
  /** An engine that gives no sign of life for so long is taken for lost and its runs go to others, in milliseconds. Default 30,000. */
  leaseMs?: number
  /** Runs in a row that may die with nothing recorded, the last of them alone in its engine, before the task fails as `POISONED`. Default 3. */
  maxCrashes?: number
  /**
   * How long an executor and the functions of its calls may ignore their aborted signal before the run is closed and the slot is
   * free, in milliseconds. It does not bound commands: these are killed after `killGraceMs`, and the run is closed after they have
   * ended. Default 5000.
   */
  abortGraceMs?: number
  /**
   * How long `close` waits for calls in flight, in milliseconds; what takes longer is interrupted. While another process holds the
   * ledger's write lock, `close` may take this time for each of its parts, four in all. Default 5000.
   */
  shutdownTimeoutMs?: number
  /** False: a producer that never runs tasks, until `work()`. Default true. */
  work?: boolean
  /** Gets every inspection event of the live actors, from the start on: what `engine.inspect` attaches later. */
  inspect?: InspectionObserver
  /** Gets errors that have no caller: a subscriber that threw, a snapshot that was repaired. Default: `console.error`. */
  onError?: (error: unknown, context: Record<string, unknown>) => void
  /**
   * Called with every value that users, programs, models and commands say (inputs, results, errors, messages, notes, facts, output, …),
   * before it is stored, published or logged, and before anything acts on it; what it returns takes the value's place for good. `path`
   * says where it lies: `['task', 'input', 'apiKey']`, `['call', 'result', '0']`, `['log', 'error', 'message']`. It is called with an
   * object or a list first, then with each value inside; in a text that is JSON with each value inside. Ids, keys, names of executors,
   * owners and tags are not shown to it.
   *
   * It must be pure and quick, must not change what it is given, and must leave alone what it has returned itself: it sees a value
   * again whenever that is written again. What it throws, and undefined, fails the write with REDACT_FAILED, and nothing is stored; an
   * error that it fails for is replaced by one with that code. With a hook the tokens of a model are not streamed: a message is told when
   * it is whole. docs/secrets.md has the rest. Default: none.
   */
  redact?: RedactFunction
  clock?: Clock
  ids?: Ids
}

/** The options of `engine.work`. */
export interface WorkOptions {
  /**
   * Runs only the tasks of the trees whose root has one of `rootKeys`, or a key that begins with one of `rootKeyPrefixes` (both default to
   * none), and leaves all others to other engines. Timers, recovery and deadlines are served for the whole ledger. Default: all tasks.
   */
  only?: { rootKeys?: readonly string[]; rootKeyPrefixes?: readonly string[] } | undefined
}

/** The option `memory`. */
export interface MemoryOptions {
  /**
   * How alike two texts are, 0 to 1: by the words that they share (`jaccard`, the default), by their vectors (`embeddings`, through
   * `model:embed`), or by a function. What throws, or answers something else, is an EXECUTION_ERROR, and nothing is changed.
   */
  similarity?: 'jaccard' | 'embeddings' | LikenessFunction
  /** Beyond it, and not at it, two texts say the same. Default 0.85, for embeddings 0.92. */
  threshold?: number
  /** Which facts a function is asked about: all of a branch (the default), or those that share a word. Only with a function. */
  candidates?: 'all' | 'words'
  /** From this confidence on a fact may be durable, 0 to 1. Default 0.8. A task may say its own. */
  durableThreshold?: number
  /** Categories that last (`arch` is short for `architecture`). Default: bug_fix, architecture, pattern, decision, security, performance. */
  durableCategories?: string[]
  /** By which words the category of an insight is told: the first rule decides; with none of them it is an `insight`. Default: built in. */
  categoryRules?: ReadonlyArray<{ category: string; words: string[] }>
  /** A session that has so many observations that no run has taken up is consolidated at once. Default: never by number. */
  consolidateEvery?: number
  /**
   * What becomes of two facts that contradict each other: both stay and are flagged (`keep-both`, the default), the surer one stays
   * (of equals the newer), the newer one stays, or as a function says. Every decision stands in the history.
   */
  onContradiction?: 'keep-both' | 'highest-confidence' | 'newest' | JudgeFunction
  /** Finds contradictions that neither numbers nor negations show, among facts that have words or the subject in common. Default: none. */
  contradicts?: ContradictsFunction
  /** Whether tasks of agents that have ended are given to the engine's own `mem:save` and `mem:archive`. Default false. Yours always get them. */
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

/** Who writes to a claimed task. Passing the task that `claim` returned says the same. */
export interface ClaimToken {
  owner?: string
  /** Number of the claim; required with a lease. */
  fence?: number
}

/** How long to wait for a task. */
export interface WaitingOptions {
  /** Milliseconds; then it rejects with TIMEOUT. Default: for ever. */
  timeoutMs?: number
  /** Waits no longer when it aborts. */
  signal?: AbortSignal
}

/**
 * The engine. Every method that changes a task returns the task as it is then. Every refusal is an `ErrandError`.
 * Verbs take an id or a task; an unknown id is `NOT_FOUND`, except for `get` (null) and `delete` (false).
 */
export interface Engine<E extends Executors = Executors> extends AbilityMethods {
  /** The instance's id in the ledger. */
  readonly instanceId: string
  /** The abilities: the engine's own and those that it was given. */
  readonly bus: Bus

  /** Creates a task, or a whole tree, or several, in one transaction: all or nothing. */
  create<R>(options: CreateOptions & { executor: Executor<any, R> }): Promise<Task<R>>
  create<K extends keyof E & string>(
    options: CreateOptions<InputOf<E[K]>> & { executor: K },
  ): Promise<Task<ResultOf<E[K]>>>
  create(options: CreateOptions & { executor?: undefined }): Promise<Task>
  /** An engine without executors of its own is a producer: it may name any. */
  create(options: CreateOptions & { executor: [keyof E] extends [never] ? string : never }): Promise<Task>
  create(options: ReadonlyArray<CreateOptions & { executor?: string | Executor }>): Promise<Task[]>

  get<R = unknown>(task: TaskRef<R>): Promise<Task<R> | null>
  /**
   * A task by its id, by `#seq`, or by a prefix of its id that no other task shares (with or without `task-`); null for none.
   * @throws ErrandError INVALID_INPUT { candidates } when several begin so.
   */
  find(ref: string): Promise<Task | null>
  /** Priority desc, then age. */
  list(options?: ListOptions): Promise<TaskPage>
  children(task: TaskRef): Promise<Task[]>
  /** All descendants, root excluded. */
  subtree(task: TaskRef): Promise<Task[]>
  /** All that a task was told to come after, satisfied or not, in order; `blockedBy` holds the open ones. */
  dependencies(task: TaskRef): Promise<Task[]>
  calls(task: TaskRef): Promise<Call[]>
  messages(task: TaskRef): Promise<Message[]>
  runs(task: TaskRef): Promise<RunRecord[]>

  update(task: TaskRef, patch: TaskPatch): Promise<Task>
  /** Deletes: children become roots (default), go along (`cascade`), or forbid it (`refuse`). False for an unknown id. */
  delete(task: TaskRef, options?: { children?: 'promote' | 'cascade' | 'refuse' }): Promise<boolean>

  /** SUBMITTED only. With an executor: it may now compete for a slot; without: it is WORKING by hand. */
  start(task: TaskRef): Promise<Task>
  /** WORKING only. */
  pause(task: TaskRef): Promise<Task>
  /** PAUSED only; it runs as soon as a slot is free. */
  resume(task: TaskRef): Promise<Task>
  /** Every live descendant too. */
  cancel(task: TaskRef, reason?: string): Promise<Task>
  /**
   * FAILED only: a new attempt. `divergence: 'allow'` lets it make calls that the journal does not know although completed ones are
   * not asked for again, until it is retried by hand the next time; each such call records `task.diverged`.
   */
  retry(task: TaskRef, options?: { divergence?: 'allow' }): Promise<Task>
  /** WORKING only; a claimed task by its owner only. Live children stay as they are. */
  complete(task: TaskRef, result?: unknown, options?: ClaimToken): Promise<Task>
  /** Like `complete`. `code` is what retry policies and programs see; default `TASK_FAILED`. Final: no policy tries it again. */
  fail(task: TaskRef, reason: string, options?: ClaimToken & { code?: string }): Promise<Task>
  /**
   * INPUT_REQUIRED only. Without a value: the question's default. The event `task.answered` records who answered (`answeredBy`).
   * @throws ErrandError FORBIDDEN for a question that is for people, where the engine is in the hands of a run or its model.
   */
  answer(task: TaskRef, value?: unknown, options?: { question?: string }): Promise<Task>
  /**
   * Appends a message of the user to the task's conversation. An agent reads it before its next step (`steer`, the default), or
   * only when it would end (`followup`); with `abort` the task is PAUSED at once and reads it when it is resumed. A message
   * answers the open question if plain text does and the sender may, and ends `wait_for_tasks`. A paused task stays paused.
   *
   * @throws ErrandError INVALID_TRANSITION for a settled task; with `retry: true` a failed one gets a new attempt.
   */
  send(
    task: TaskRef,
    message: string,
    options?: { delivery?: 'steer' | 'followup' | 'abort' | undefined; retry?: boolean | undefined },
  ): Promise<Task>
  /**
   * Does what a message asks for: it goes to the task that it mentions (`@task-…`), is a wish that the engine carries out (pause,
   * cancel, list, …), or goes to the task that it belongs to; else it begins a new one. Says what it did.
   */
  handle(message: string, options?: HandleOptions): Promise<Handled>
  why(task: TaskRef): Promise<Why>

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
   * Work from outside: takes a task without an executor, in one transaction. With null the best that may be claimed (highest
   * priority, then oldest; of a parent, role and tags), or null when there is none. With `leaseMs` the claim lapses unless its
   * owner writes in time; every write then quotes the fence, which the returned task does by itself.
   * @throws ErrandError BLOCKED { blockedBy }, NOT_CLAIMABLE { reason, status, owner } for a given task.
   */
  claim(task: null, options: ClaimOptions): Promise<Task | null>
  claim(task: TaskRef, options: ClaimOptions): Promise<Task>
  /** A sign of life of the owner: its lease begins anew. @throws ErrandError STALE_CLAIM, NOT_OWNER, NOT_CLAIMABLE */
  heartbeat(task: TaskRef, options?: ClaimToken): Promise<Task>
  /** The owner lets go: the task is WAITING, `released`, and may be claimed again. One that rests (paused, say) stays so. */
  release(task: TaskRef, options?: ClaimToken & { reason?: string }): Promise<Task>

  /** The task comes after these too. While it does not work; a group passes it on to what it holds. @throws ErrandError CYCLE */
  block(task: TaskRef, blockers: TaskRef | readonly TaskRef[]): Promise<Task>
  /** The task no longer comes after these. */
  unblock(task: TaskRef, blockers: TaskRef | readonly TaskRef[]): Promise<Task>
  /**
   * The open tasks (below a parent, or all) in an order in which they can be worked off, and which of them hold up the most. Throws
   * LIMIT_EXCEEDED for more than 5,000 of them.
   */
  graph(options?: { parentId?: string }): Promise<TaskGraph>

  /** The result; throws TaskFailedError, TaskCanceledError, or TIMEOUT. */
  result<R = unknown>(task: TaskId<R> | { id: TaskId<R> }, options?: WaitingOptions): Promise<R>
  result<R = unknown>(task: string, options?: WaitingOptions): Promise<R>
  /** The outcome as a union on `status`; rejects with TIMEOUT when it is still open after `timeoutMs`. */
  settled<R = unknown>(task: TaskId<R> | { id: TaskId<R> }, options?: WaitingOptions): Promise<Outcome<R>>
  settled<R = unknown>(task: string, options?: WaitingOptions): Promise<Outcome<R>>
  /** Replays from the start (or after a position), then follows live, to exactly one `end`. */
  stream(task: TaskRef, options?: { after?: number; signal?: AbortSignal }): AsyncIterableIterator<StreamItem>
  /** The durable feed of everything, from a cursor (0: the beginning) on; ends with `signal` or `close`. */
  events(options?: {
    after?: number
    signal?: AbortSignal
    follow?: boolean
    taskId?: string
  }): AsyncIterableIterator<TaskEvent>
  /** Live only. Handlers of one event run in the order of subscription, each awaited; one that throws stops nobody else. */
  subscribe(type: EventType | '*', handler: EventHandler): () => void
  /**
   * Attaches an inspector: it is told of every live actor (the engine's supervisor, the tasks that work, their runs), then of every event
   * and state, as XState tells them, until the function that is returned is called. What it throws is told to `onError` and breaks
   * nothing. While nobody is attached no event is made. What it gets is unredacted: what leaves the process is `errand/inspect`'s to judge.
   *
   * @example
   * const inspector = createWebSocketInspector({ url: 'ws://localhost:8080' }) // @statelyai/inspect
   * const detach = engine.inspect(inspector.inspect)
   */
  inspect(observer: InspectionObserver, options?: InspectOptions): () => void

  /** Starts what is ready and held only by `autoStart: false`; resolves with those tasks when the engine is idle. */
  schedule(): Promise<Task[]>
  /** Resolves when no task that this engine may run is ready, running or on a timer. */
  idle(): Promise<void>
  /** Lets a producer (`work: false`) begin to work. On an engine that works already it changes nothing. @throws ErrandError INVALID_INPUT */
  work(options?: WorkOptions): Promise<void>
  /** The read model: counts by state, slots, what runs now, the queue, the last event. Counts from the first look on. */
  readonly status: StatusStore
  /** Other limits for this engine, from now on; nothing that runs is ended. null takes an executor's limit away. */
  setLimits(limits: LimitsPatch): Promise<Limits>
  /** Limits for all engines on this ledger together, beside their own; null takes one away. */
  setSharedLimits(limits: SharedLimitsPatch): Promise<Limits>
  limits(): Promise<Limits>
  /**
   * Removes families (a root and all below it) that have been settled since before a time, in epoch milliseconds, and that no
   * open task still comes after. Their part of the feed goes with them: an older cursor gets `CURSOR_TOO_OLD`.
   */
  purge(options: { before: number }): Promise<{ tasks: number; families: number; events: number }>
  /**
   * Stops admitting, ends runs between their calls, and waits for calls in flight, at most `shutdownTimeoutMs`. A call that
   * takes longer is interrupted like by a crash: `onInterrupt` says what that means for the next run, and `fail` fails the
   * task. Takes a moment more than that, and as long again for a subscriber that does not come to an end.
   */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
