// The task manager: an engine on a given bus, opened in the background, and what is known of it at any moment.
import { z } from 'zod'
import { createReport } from '../../actors/report.ts'
import { engineOptionsSchema } from '../../api/options.ts'
import type { Bus } from '../../bus/bus.ts'
import { parse } from '../../core/parse.ts'
import { redactionBy } from '../../core/redact.ts'
import { openEngine } from '../../engine.ts'
import type { Engine, EngineOptions } from '../../engine-api.ts'
import { agentOsAbilities } from './abilities/offered.ts'
import { type AgentBus, requireBus } from './agent-bus.ts'
import { RunningTasks } from './running-tasks.ts'
import { type EmitToUser, emitOutput, listenToOutput, type OutputListener } from './user-output.ts'
import { readDetail } from './views/task-view.ts'

const engineOptions = {
  model: true,
  models: true,
  resolveModel: true,
  executors: true,
  abilities: true,
  toolExecution: true,
  modelRetry: true,
  archiveFailed: true,
  leaseMs: true,
  shutdownTimeoutMs: true,
  onError: true,
  redact: true,
  clock: true,
  ids: true,
} as const

/** The options of a task manager. All but the first two and `emitToUser` are those of `createEngine`. */
export interface TaskManagerConfig extends Pick<EngineOptions, keyof typeof engineOptions> {
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

const { maxConcurrent, maxIterations, ledger } = engineOptionsSchema.shape
const configSchema = z.strictObject({
  maxConcurrentTasks: maxConcurrent,
  maxIterationsPerTask: maxIterations,
  ledger,
  emitToUser: z.custom<EmitToUser>((value) => typeof value === 'function', 'expected a function (output)').optional(),
  ...engineOptionsSchema.pick(engineOptions).shape,
})

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
  const engine = openEngine(options, {
    bus: bus as Bus,
    abilities: (host) => agentOsAbilities(host, bus as Bus),
    readTask: (tx, task) => readDetail(tx, task, true),
  })
  const ready = engine.then((opened) => {
    running.follow(opened)
    if (emitToUser) emitOutput(opened, emitToUser, report)
  })
  ready.catch((error: unknown) => report(error, { doing: 'open the task manager' }))
  const shutdown = async (): Promise<void> => {
    // What never opened has nothing to close, and has been reported.
    const opened = await engine.catch(() => undefined)
    await opened?.close()
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

/** Lets go of what runs and closes, as `state.shutdown()` does. The bus is named for the sake of the documents' signature. */
export function shutdownTaskManager(state: Pick<TaskManagerState, 'shutdown'>, _bus?: AgentBus): Promise<void> {
  return state.shutdown()
}

/** As `state.canSpawnTask()`. */
export function canSpawnTask(state: Pick<TaskManagerState, 'canSpawnTask'>): boolean {
  return state.canSpawnTask()
}
