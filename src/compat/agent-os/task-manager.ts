// The task manager: an engine on a given bus, opened in the background, and its observable state.
import { z } from 'zod'
import { createReport } from '../../actors/report.ts'
import type { Bus } from '../../bus/bus.ts'
import { parse } from '../../core/parse.ts'
import { redactionBy } from '../../core/redact.ts'
import { openEngine } from '../../engine/engine.ts'
import type { Engine, EngineOptions } from '../../engine/engine-api.ts'
import { engineOptionsSchema } from '../../entities/options.ts'
import type { RunningTask } from '../../entities/views.ts'
import { agentOsAbilities } from './abilities/offered.ts'
import { type AgentBus, requireBus } from './agent-bus.ts'
import { type EmitToUser, emitOutput, listenToOutput, type OutputListener } from './user-output.ts'
import { readDetail } from './views/task-view.ts'

/** They are set by the parameters of `createTaskManager`, or have names of Agent OS. */
type OwnOption = 'bus' | 'ledger' | 'maxConcurrent' | 'maxIterations'

/** The options of a task manager: those of `createEngine`, of which two have names of Agent OS, and `emitToUser`. */
export interface TaskManagerConfig extends Omit<EngineOptions, OwnOption> {
  /** Maximum number of running tasks; the others are `pending` until a slot is free. Default 10. */
  maxConcurrentTasks?: number
  /** Maximum number of steps of a task's model. Default 10. */
  maxIterationsPerTask?: number
  /** The ledger: a path, `:memory:` (default), or a Ledger that the caller opened and closes. */
  ledger?: string | object
  /** Receives the text of the tasks that run here as it is produced, and how each of them ended. Awaited; its errors are reported. */
  emitToUser?: EmitToUser
}

/** A running task manager. Details of tasks are not kept here but in the ledger, behind `task:*` and `ldg:*`. */
export interface TaskManagerState {
  /** The tasks that run in this manager now. A live collection. */
  readonly activeTaskIds: ReadonlySet<string>
  /** For the same tasks, when their current run ends. These promises never reject. */
  readonly executionLoops: ReadonlyMap<string, Promise<void>>
  /** Resolves when the ledger is open; rejects with the error that prevented it, which `onError` receives as well. */
  readonly ready: Promise<void>
  /** The engine. Surfaces (HTTP, MCP, the REPL) use its own bus, `engine.bus`. */
  readonly engine: Promise<Engine>
  /** Whether a slot is free, so that a new task would run at once. */
  canSpawnTask(): boolean
  /** Passes the whole output of a task to a listener. Returns a function that stops it. Errors go to `onError`. */
  onOutput(taskId: string, listener: OutputListener): () => void
  /** Releases the running tasks within `shutdownTimeoutMs` (5 s) and closes. The next manager on the ledger continues them. */
  shutdown(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const { bus: _bus, maxConcurrent, maxIterations, ...shared } = engineOptionsSchema().shape
const configSchema = z.strictObject({
  maxConcurrentTasks: maxConcurrent,
  maxIterationsPerTask: maxIterations,
  emitToUser: z.custom<EmitToUser>((value) => typeof value === 'function', 'expected a function (output)').optional(),
  ...shared,
})

/**
 * Registers the abilities of Agent OS, `task:*` and `ldg:*`, and `model:*` on the bus and opens the ledger in the background; calls made
 * meanwhile are answered when it is open. Then every unfinished task continues. Agents call the abilities of this bus; the engine has a
 * second bus, `engine.bus`, for HTTP, MCP and the REPL. It has the abilities of the engine, those that are registered on this bus, and those
 * of Agent OS under ids that begin with `agent_os:`, such as `agent_os:task:spawn`.
 *
 * The model is that of the config, or `model:llm` of the bus, registered before or after. Goals wait until there is a model, including
 * those that an earlier manager left unfinished.
 *
 * @example
 * const bus = createAgentBus()
 * const state = createTaskManager(bus, { ledger: 'tasks.db', model })
 * const { taskId } = await bus.call('task:create', { goal: 'Analyze Q1 sales data' })
 * @throws ErrandError UNKNOWN_OPTION { option, nearest }, INVALID_INPUT { issues } at once. Later errors reject `ready`.
 */
export function createTaskManager(bus: AgentBus, config: TaskManagerConfig = {}): TaskManagerState {
  requireBus(bus, 'createTaskManager')
  const { maxConcurrentTasks, maxIterationsPerTask, emitToUser, ...rest } = parse(
    configSchema,
    config,
    'createTaskManager',
  )
  const options: EngineOptions = {
    ...(rest as Omit<EngineOptions, 'bus'>),
    maxConcurrent: maxConcurrentTasks,
    maxIterations: maxIterationsPerTask,
  }
  const report = createReport(rest.onError, redactionBy(rest.redact))
  const running = new RunningTasks()
  let unregister: () => void = () => {}
  const engine = openEngine(options, {
    bus: bus as Bus,
    abilities: (host) => agentOsAbilities(host, bus as Bus),
    module: 'agent_os',
    readTask: (tx, task) => readDetail(tx, task, true),
    // The abilities stay, so that each call says why there is no ledger.
    onFailed: (remove) => {
      unregister = remove
    },
  })
  const ready = engine.then((opened) => {
    running.follow(opened)
    if (emitToUser) emitOutput(opened, emitToUser, report)
  })
  ready.catch((error: unknown) => report(error, { doing: 'open the task manager' }))
  const shutdown = async (): Promise<void> => {
    // If it never opened there is nothing to close, and the error has been reported.
    const opened = await engine.catch(() => undefined)
    await opened?.close()
    unregister()
    running.clear()
  }
  const { activeTaskIds, executionLoops } = running
  return {
    activeTaskIds,
    executionLoops,
    ready,
    engine,
    canSpawnTask: () => activeTaskIds.size < maxConcurrentTasks,
    onOutput: (taskId, listener) => listenToOutput(bus, taskId, listener, report),
    shutdown,
    [Symbol.asyncDispose]: shutdown,
  }
}

/** Calls `state.shutdown()`. The parameter `_bus` exists for the documented signature. */
export function shutdownTaskManager(state: Pick<TaskManagerState, 'shutdown'>, _bus?: AgentBus): Promise<void> {
  return state.shutdown()
}

/** Calls `state.canSpawnTask()`. */
export function canSpawnTask(state: Pick<TaskManagerState, 'canSpawnTask'>): boolean {
  return state.canSpawnTask()
}

// The running tasks of an engine, in the two collections of a task manager. They follow the engine's read model; no other state of a
// task is held in memory.

/** `activeTaskIds` and `executionLoops` have one entry for each open run of the engine, from its start until it has settled. */
class RunningTasks {
  readonly activeTaskIds = new Set<string>()
  /** Each resolves when the run has ended, with any outcome, and never rejects. */
  readonly executionLoops = new Map<string, Promise<void>>()
  /** By task and run, because a task may run again before its previous end was noticed. */
  readonly #ends = new Map<string, () => void>()

  follow(engine: Engine): void {
    const running = engine.status.select((status) => status.running)
    this.#show(running.get())
    running.subscribe((now) => this.#show(now))
  }

  /** Called when the engine is closed. */
  clear(): void {
    this.#show([])
  }

  #show(running: readonly RunningTask[]): void {
    const open = new Map(running.map((task) => [`${task.taskId} ${task.run}`, task.taskId]))
    for (const [key, end] of this.#ends) if (!open.has(key)) end()
    for (const [key, taskId] of open) if (!this.#ends.has(key)) this.#begin(key, taskId)
  }

  #begin(key: string, taskId: string): void {
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    this.activeTaskIds.add(taskId)
    this.executionLoops.set(taskId, ended)
    this.#ends.set(key, () => {
      this.#ends.delete(key)
      if (this.executionLoops.get(taskId) === ended) {
        this.executionLoops.delete(taskId)
        this.activeTaskIds.delete(taskId)
      }
      resolve()
    })
  }
}
