// The task manager: an engine on a given bus, opened in the background, and what is known of it at any moment.
import { z } from 'zod'
import type { Engine, EngineOptions } from '../../api.ts'
import type { Bus } from '../../bus/bus.ts'
import { openEngine } from '../../engine.ts'
import { engineOptionsSchema } from '../../options.ts'
import { parse } from '../../parse.ts'
import { describeError } from '../../stored-error.ts'
import { agentOsAbilities } from './abilities/offered.ts'
import { type AgentBus, requireBus } from './agent-bus.ts'
import { listenToOutput, type OutputListener } from './output-listeners.ts'
import { RunningTasks } from './running-tasks.ts'
import { type EmitToUser, emitOutput } from './user-output.ts'
import { readDetail } from './views/task-view.ts'

/** The options of a task manager. All but the first two and `emitToUser` are those of `createEngine`. */
export interface TaskManagerConfig
  extends Pick<
    EngineOptions,
    | 'model'
    | 'models'
    | 'resolveModel'
    | 'executors'
    | 'abilities'
    | 'toolExecution'
    | 'modelRetry'
    | 'archiveFailed'
    | 'leaseMs'
    | 'shutdownTimeoutMs'
    | 'onError'
    | 'clock'
    | 'ids'
  > {
  /** Tasks that run at once; the others are `pending` until a slot is free. Default 10. */
  maxConcurrentTasks?: number
  /** Steps that the model of a task may take. Default 10. */
  maxIterationsPerTask?: number
  /** Where tasks are kept: a path, `:memory:` (default), or a Ledger that the caller opened and closes. */
  ledger?: string | object
  /** Is shown the text of the tasks that run here as it comes, and how each of them ended. Awaited; its errors end nothing. */
  emitToUser?: EmitToUser
}

/** A task manager at work. It keeps no details of tasks: they are in the ledger, behind `task:*` and `ldg:*`. */
export interface TaskManagerState {
  /** The tasks that run in this manager now. Live: look at it again to see it change. */
  readonly activeTaskIds: ReadonlySet<string>
  /** Of the same tasks, when their present run ends. They never reject. */
  readonly executionLoops: ReadonlyMap<string, Promise<void>>
  /** Resolves when the ledger is open. Rejects with what kept it from opening; `onError` hears of that too. */
  readonly ready: Promise<void>
  /** The engine behind it. Surfaces (HTTP, MCP, the command line) use its own bus, `engine.bus`. */
  readonly engine: Promise<Engine>
  /** Whether a task that is created now would run at once, as far as slots are concerned. */
  canSpawnTask(): boolean
  /** Tells a listener all that a task gives, from its start on. Returns how to stop. What goes wrong goes to `onError`. */
  onOutput(taskId: string, listener: OutputListener): () => void
  /** Lets go of what runs, within `shutdownTimeoutMs` (5 s), and closes. The next manager on the ledger goes on with it. */
  shutdown(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const engineOptions = engineOptionsSchema.shape

const configSchema = z.strictObject({
  maxConcurrentTasks: engineOptions.maxConcurrent,
  maxIterationsPerTask: engineOptions.maxIterations,
  ledger: engineOptions.ledger,
  emitToUser: z.custom<EmitToUser>((value) => typeof value === 'function', 'expected a function (output)').optional(),
  model: engineOptions.model,
  models: engineOptions.models,
  resolveModel: engineOptions.resolveModel,
  executors: engineOptions.executors,
  abilities: engineOptions.abilities,
  toolExecution: engineOptions.toolExecution,
  modelRetry: engineOptions.modelRetry,
  archiveFailed: engineOptions.archiveFailed,
  leaseMs: engineOptions.leaseMs,
  shutdownTimeoutMs: engineOptions.shutdownTimeoutMs,
  onError: engineOptions.onError,
  clock: engineOptions.clock,
  ids: engineOptions.ids,
})
type ParsedConfig = z.output<typeof configSchema>

/**
 * Puts `task:*` and `ldg:*` in the words of Agent OS, and `model:*`, on the bus at once and opens the ledger in the background:
 * abilities that are called meanwhile answer when it is open. Then it goes on with every task that was not finished. Its agents call
 * what stands on this bus; the engine has a bus of its own besides, `engine.bus`, where everything from this one can be called too.
 *
 * Its model is that of the config, or whoever answers `model:llm` on the bus, registered before or after. Until there is one,
 * goals wait for it, those that an earlier manager left unfinished too.
 *
 * @example
 * const bus = createAgentBus()
 * const state = createTaskManager(bus, { ledger: 'tasks.db', model })
 * const { taskId } = await bus.call('task:create', { goal: 'Analyze Q1 sales data' })
 * @throws ErrandError UNKNOWN_OPTION { option, nearest }, INVALID_INPUT { issues } at once. What else goes wrong rejects `ready`.
 */
export function createTaskManager(bus: AgentBus, config: TaskManagerConfig = {}): TaskManagerState {
  return new TaskManager(requireBus(bus, 'createTaskManager'), parse(configSchema, config, 'createTaskManager'))
}

/** Lets go of what runs and closes, as `state.shutdown()` does. The bus is named for the sake of the documents' signature. */
export function shutdownTaskManager(state: Pick<TaskManagerState, 'shutdown'>, _bus?: AgentBus): Promise<void> {
  return state.shutdown()
}

/** As `state.canSpawnTask()`. */
export function canSpawnTask(state: Pick<TaskManagerState, 'canSpawnTask'>): boolean {
  return state.canSpawnTask()
}

class TaskManager implements TaskManagerState {
  readonly engine: Promise<Engine>
  readonly ready: Promise<void>
  readonly #bus: AgentBus
  readonly #config: ParsedConfig
  readonly #running = new RunningTasks()

  constructor(bus: AgentBus, config: ParsedConfig) {
    this.#bus = bus
    this.#config = config
    this.engine = this.#open()
    this.ready = this.engine.then((engine) => this.#opened(engine))
    this.ready.catch((error: unknown) => this.#report(error, { doing: 'open the task manager' }))
  }

  get activeTaskIds(): ReadonlySet<string> {
    return this.#running.activeTaskIds
  }

  get executionLoops(): ReadonlyMap<string, Promise<void>> {
    return this.#running.executionLoops
  }

  canSpawnTask(): boolean {
    return this.activeTaskIds.size < this.#config.maxConcurrentTasks
  }

  onOutput(taskId: string, listener: OutputListener): () => void {
    return listenToOutput(this.#bus, taskId, listener, (error, context) => this.#report(error, context))
  }

  async shutdown(): Promise<void> {
    // What never opened has nothing to close, and has been reported.
    const engine = await this.engine.catch(() => undefined)
    await engine?.close()
    this.#running.clear()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown()
  }

  #open(): Promise<Engine> {
    const { maxConcurrentTasks, maxIterationsPerTask, emitToUser: _emitToUser, ...rest } = this.#config
    const options: EngineOptions = {
      ...(rest as Omit<EngineOptions, 'bus'>),
      maxConcurrent: maxConcurrentTasks,
      maxIterations: maxIterationsPerTask,
    }
    const bus = this.#bus as Bus
    return openEngine(options, {
      bus,
      abilities: (host) => agentOsAbilities(host, bus),
      readTask: (tx, task) => readDetail(tx, task, true),
    })
  }

  #opened(engine: Engine): void {
    this.#running.follow(engine)
    const { emitToUser } = this.#config
    if (emitToUser) emitOutput(engine, emitToUser, (error, context) => this.#report(error, context))
  }

  #report(error: unknown, context: Record<string, unknown>): void {
    if (this.#config.onError) this.#config.onError(error, context)
    else console.error('errand:', describeError(error), context)
  }
}
