// What a manager and its schedulers share: the engine behind them, given or of their own, and the way of its events to the bus.

import type { Executor } from '../../api/executor.ts'
import { defined } from '../../core/defined.ts'
import { ErrandError } from '../../core/errors.ts'
import { kindOf } from '../../core/parse.ts'
import { createEngine } from '../../create-engine.ts'
import type { Engine } from '../../engine-api.ts'
import type { TaskEvent as EngineEvent } from '../../entities/event.ts'
import type { Task as EngineTask } from '../../entities/task.ts'
import { createExoExecutor, exoExecutorName, type Work, workOf } from './exo-executor.ts'
import { type Task, viewOf } from './task.ts'
import { withExoErrors } from './task-error.ts'
import type { TaskEvent, TaskEventBus } from './task-event-bus.ts'

export interface TaskManagerOptions {
  /** Gets every `task.*` event, in the order of the ledger and never before it is durable. Default: none. */
  eventBus?: TaskEventBus
  /** Default: one of the manager's own, opened with its first use and closed with the manager. */
  engine?: Engine
  /** With `engine` only: the executor that it knows as `exo`. Without it nothing can be scheduled. */
  executor?: Executor
  /** Where an engine of its own keeps its tasks: a path, `:memory:` (default), or a Ledger. */
  ledger?: string | object
  /** New tasks are completed by their children once their own work is done. Default: as the engine does, which is false. */
  autoComplete?: boolean
  /** Gets errors of an engine of its own that have no caller. Default: `console.error`. */
  onError?: (error: unknown, context: Record<string, unknown>) => void
}

/** The same once parsed. */
type BackingOptions = { [Name in keyof TaskManagerOptions]: TaskManagerOptions[Name] | undefined }

/** One for each manager. Schedulers find it through the manager. */
export class Backing {
  /** What the executor of the engine is told. */
  readonly worker: Work
  readonly #options: BackingOptions
  readonly #executor: Executor
  /** For tasks that are created from now on. */
  autoComplete: boolean | undefined
  #opened: Promise<Engine> | undefined
  #unsubscribe: (() => void) | undefined
  #works = false
  #closed = false

  constructor(options: BackingOptions) {
    this.#options = options
    this.#executor = options.executor ?? createExoExecutor()
    this.worker = workOf.get(this.#executor) as Work
    this.autoComplete = options.autoComplete
    if (options.engine) this.#forward(options.engine)
  }

  /** One of its own only commands until something is scheduled: before that nobody has said with what tasks should be run. */
  async engine(): Promise<Engine> {
    if (this.#closed) {
      throw new ErrandError('ENGINE_CLOSED', 'The task manager is closed. Create a new one on the same ledger.', {})
    }
    if (this.#options.engine) return this.#options.engine
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined
      throw error
    })
    return this.#opened
  }

  async #open(): Promise<Engine> {
    const { ledger, onError } = this.#options
    const engine: Engine = await createEngine({
      executors: { [exoExecutorName]: this.#executor },
      work: false,
      ...defined({ ledger, onError }),
    })
    this.#forward(engine)
    return engine
  }

  /** Lets the engine run the tasks, at most so many at once. A given one has other work as well, with limits of its own. */
  async work(maxConcurrent: number): Promise<void> {
    this.#works = true
    await this.limit(maxConcurrent)
    await (await this.engine()).work()
  }

  /** Another limit, from now on; before anything is scheduled there is nothing to limit. */
  async limit(maxConcurrent: number): Promise<void> {
    if (!this.#works) return
    const engine = await this.engine()
    await engine.setLimits(this.#options.engine ? { limits: { [exoExecutorName]: maxConcurrent } } : { maxConcurrent })
  }

  #forward(engine: Engine): void {
    const { eventBus } = this.#options
    if (eventBus === undefined) return
    this.#unsubscribe = engine.subscribe('*', async (event) => {
      if (event.type.startsWith('task.')) await eventBus.emit(toTaskEvent(event))
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    // What is on its way to the bus is heard while the engine closes; a given one lives on, and its news are not ours any more.
    await (await this.#opened)?.close()
    this.#unsubscribe?.()
  }
}

function toTaskEvent({ type, taskId, data, at }: EngineEvent): TaskEvent {
  return { event_type: type, task_id: taskId, data, timestamp: at }
}

/** By manager: how a scheduler finds what it shares with it. */
const backings = new WeakMap<object, Backing>()

/** Told once by each manager, when it is made. */
export function backManager(manager: object, backing: Backing): void {
  backings.set(manager, backing)
}

/** @throws ErrandError INVALID_INPUT for what is no manager. */
export function backingOf(manager: object): Backing {
  const backing = kindOf(manager) === 'object' ? backings.get(manager) : undefined
  if (backing) return backing
  const given = kindOf(manager) === 'object' ? 'another object' : kindOf(manager)
  throw new ErrandError('INVALID_INPUT', `Expected a TaskManager, got ${given}.`, {})
}

/** Lets the engine do something to a task, in Exo's words. */
export function askEngine(backing: Backing, work: (engine: Engine) => Promise<EngineTask>): Promise<Task> {
  return withEngine(backing, async (engine) => viewOf(await work(engine)))
}

/** The same for what does not end with one task. */
export function withEngine<T>(backing: Backing, work: (engine: Engine) => Promise<T>): Promise<T> {
  return withExoErrors(async () => work(await backing.engine()))
}
