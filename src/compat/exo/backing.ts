// What a manager and its schedulers share: the engine, given or their own, and the forwarding of its events to the bus.

import { ErrandError } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { typeName } from '../../core/type-name.ts'
import { createEngine } from '../../engine/create-engine.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { TaskEvent as EngineEvent } from '../../entities/event.ts'
import type { Executor } from '../../entities/executor.ts'
import type { Task as EngineTask } from '../../entities/task.ts'
import { createExoExecutor, exoExecutorName, type Work, workOf } from './exo-executor.ts'
import { type Task, viewOf } from './task.ts'
import { withExoErrors } from './task-error.ts'
import type { TaskEvent, TaskEventBus } from './task-event-bus.ts'

export interface TaskManagerOptions {
  /** Receives every `task.*` event, in the order of the ledger, after it is durable. Default: none. */
  eventBus?: TaskEventBus
  /** Default: the manager's own engine, opened on first use and closed with the manager. */
  engine?: Engine
  /** Only with `engine`: the executor registered there as `exo`. Without it no task can be scheduled. */
  executor?: Executor
  /** The ledger of the manager's own engine: a path, `:memory:` (default), or a Ledger. */
  ledger?: string | object
  /** New tasks are completed by their children once their own work is done. Default: the engine's, which is false. */
  autoComplete?: boolean
  /** Receives errors of the manager's own engine that no caller receives. Default: `console.error`. */
  onError?: (error: unknown, context: Record<string, unknown>) => void
}

/** The parsed options. */
type BackingOptions = { [Name in keyof TaskManagerOptions]: TaskManagerOptions[Name] | undefined }

/** One per manager; its schedulers share it. */
export class Backing {
  /** The state shared with the engine's executor. */
  readonly worker: Work
  readonly #options: BackingOptions
  readonly #executor: Executor
  /** For tasks created from now on. */
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

  /** The manager's own engine runs nothing until something is scheduled, because until then there is no executor. */
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
      ...omitUndefined({ ledger, onError }),
    })
    this.#forward(engine)
    return engine
  }

  /** Lets the engine run up to so many tasks. A given engine has other work as well, so only the executor is limited there. */
  async work(maxConcurrent: number): Promise<void> {
    this.#works = true
    await this.limit(maxConcurrent)
    await (await this.engine()).work()
  }

  /** Changes the limit; has no effect before something is scheduled. */
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
    // Pending events reach the bus while the engine closes. A given engine stays open, and its later events are not forwarded.
    await (await this.#opened)?.close()
    this.#unsubscribe?.()
  }
}

function toTaskEvent({ type, taskId, data, at }: EngineEvent): TaskEvent {
  return { event_type: type, task_id: taskId, data, timestamp: at }
}

/** By manager: lets a scheduler find the shared backing. */
const backings = new WeakMap<object, Backing>()

/** Called once by each new manager. */
export function backManager(manager: object, backing: Backing): void {
  backings.set(manager, backing)
}

/** @throws ErrandError INVALID_INPUT for a value that is not a TaskManager. */
export function backingOf(manager: object): Backing {
  const backing = typeName(manager) === 'object' ? backings.get(manager) : undefined
  if (backing) return backing
  const given = typeName(manager) === 'object' ? 'another object' : typeName(manager)
  throw new ErrandError('INVALID_INPUT', `Expected a TaskManager, got ${given}.`, {})
}

/** Runs an operation of the engine that returns a task, and translates the task and its errors. */
export function callEngine(backing: Backing, work: (engine: Engine) => Promise<EngineTask>): Promise<Task> {
  return withEngine(backing, async (engine) => viewOf(await work(engine)))
}

/** Runs any operation of the engine and translates its errors. */
export function withEngine<T>(backing: Backing, work: (engine: Engine) => Promise<T>): Promise<T> {
  return withExoErrors(async () => work(await backing.engine()))
}
