// Exo's TaskScheduler: it gives SUBMITTED tasks the executor that the engine has for them, and waits. Slots, order and aborts
// are the engine's.
import { z } from 'zod'
import { defined } from '../../core/defined.ts'
import { ErrandError } from '../../core/errors.ts'
import { parse, requireFunction } from '../../core/parse.ts'
import type { Engine } from '../../engine-api.ts'
import type { Task as EngineTask } from '../../entities/task.ts'
import { type RetryPolicy, retryPolicySchema } from '../../entities/task-fields.ts'
import { askEngine, type Backing, backingOf } from './backing.ts'
import { exoExecutorName, type TaskExecutor } from './exo-executor.ts'
import { listAll, pageSize, type Task, viewOf } from './task.ts'
import { withExoErrors, withExoErrorsSync } from './task-error.ts'
import type { TaskManager } from './task-manager.ts'

export interface TaskSchedulerOptions {
  /**
   * How many tasks may run at once. Default 3. With several schedulers of one manager, that of the latest `schedule` holds.
   * An engine that was given bounds all of its work by limits of its own as well.
   */
  maxConcurrent?: number
  /** As the option of the manager, for tasks that are created from now on. */
  autoComplete?: boolean
  /** Longest run of a task in milliseconds; beyond it the task fails with `TIMEOUT`. Default: none. */
  timeoutMs?: number
  /** Attempts of a task, and the rest between them. Default: one attempt. */
  retry?: Partial<RetryPolicy>
}

type TaskPolicy = Pick<TaskSchedulerOptions, 'timeoutMs' | 'retry'>

const maxConcurrentSchema = z.int().min(1).max(1_000_000)
const schedulerOptionsSchema = z.strictObject({
  maxConcurrent: maxConcurrentSchema.default(3),
  autoComplete: z.boolean().optional(),
  timeoutMs: z.number().positive().optional(),
  retry: retryPolicySchema.optional(),
})

/**
 * Runs the tasks of a manager.
 *
 * @example
 * const scheduler = new TaskScheduler(manager, { maxConcurrent: 2 })
 * const handled = await scheduler.schedule(async (task, signal) => research(task.description, { signal }))
 */
export class TaskScheduler {
  readonly #backing: Backing
  readonly #policy: TaskPolicy
  #maxConcurrent: number

  /** @throws TaskError INVALID_INPUT for a limit that is no whole number from 1 on, or what is no TaskManager; UNKNOWN_OPTION. */
  constructor(manager: TaskManager, options: TaskSchedulerOptions = {}) {
    const backing = withExoErrorsSync(() => backingOf(manager))
    const { maxConcurrent, autoComplete, ...policy } = withExoErrorsSync(() =>
      parse(schedulerOptionsSchema, options, 'new TaskScheduler'),
    )
    this.#backing = backing
    this.#maxConcurrent = maxConcurrent
    this.#policy = defined(policy) as TaskPolicy
    if (autoComplete !== undefined) backing.autoComplete = autoComplete
  }

  get maxConcurrent(): number {
    return this.#maxConcurrent
  }

  /**
   * Another limit, from now on. What runs goes on: a lower limit only keeps others from starting.
   * @throws TaskError INVALID_INPUT for what is no whole number from 1 on.
   */
  setMaxConcurrent(maxConcurrent: number): Promise<void> {
    return withExoErrors(async () => {
      const limit = parse(maxConcurrentSchema, maxConcurrent, 'setMaxConcurrent')
      await this.#backing.limit(limit)
      this.#maxConcurrent = limit
    })
  }

  /**
   * Runs every SUBMITTED task that has no executor, owner, role or team, by priority and then age, and those that are submitted meanwhile; resolves, when nothing
   * runs, is queued or rests before its next attempt any more, to the tasks whose executor was called, in the order of
   * their starts and as they are then. Empty when there was nothing to do.
   *
   * A task that was picked belongs to the engine from then on: after `resume`, `retry` or an answer it runs again by
   * itself, under the executor given last. A failing executor fails its task, and nothing else.
   * @throws TaskError INVALID_INPUT for what is no function, UNKNOWN_EXECUTOR for a given engine without `exo`.
   */
  schedule(executor: TaskExecutor): Promise<Task[]> {
    return withExoErrors(async () => {
      const { worker } = this.#backing
      const round = new Set<string>()
      const ours = new Set<string>()
      const unsubscribes: Array<() => void> = []
      requireFunction(executor, 'the executor of schedule')
      const engine = await this.#backing.engine()
      worker.rounds.add(round)
      try {
        worker.offer(executor)
        for (const type of ['task.created', 'task.retried'] as const) {
          unsubscribes.push(engine.subscribe(type, ({ taskId }) => this.#pickNew(engine, taskId, executor, ours)))
        }
        await this.#backing.work(this.#maxConcurrent)
        do await engine.idle()
        while ((await this.#pick(engine, await listAll(engine, { status: 'submitted' }), executor, ours)) > 0)
      } finally {
        for (const unsubscribe of unsubscribes) unsubscribe()
        worker.rounds.delete(round)
        // Canceled or deleted before they ever ran.
        for (const id of ours) worker.picked.delete(id)
      }
      const handled = await Promise.all([...round].map((id) => engine.get(id)))
      return handled.filter((task) => task !== null).map(viewOf)
    })
  }

  /** WORKING → PAUSED: the signal aborts, and what that run returns changes nothing. @throws InvalidTransitionError, TaskNotFoundError. */
  pause(id: string): Promise<Task> {
    return askEngine(this.#backing, (engine) => engine.pause(id))
  }

  /** PAUSED → WORKING as soon as a slot is free. @throws InvalidTransitionError, TaskNotFoundError. */
  resume(id: string): Promise<Task> {
    return askEngine(this.#backing, (engine) => engine.resume(id))
  }

  /** The task and all its live descendants, whose runs are aborted. @throws InvalidTransitionError, TaskNotFoundError. */
  cancel(id: string, reason?: string): Promise<Task> {
    return askEngine(this.#backing, (engine) => engine.cancel(id, reason))
  }

  /** FAILED → SUBMITTED, a new attempt. @throws InvalidTransitionError, TaskNotFoundError. */
  retry(id: string): Promise<Task> {
    return askEngine(this.#backing, (engine) => engine.retry(id))
  }

  async #pickNew(engine: Engine, id: string, executor: TaskExecutor, ours: Set<string>): Promise<void> {
    const task = await engine.get(id)
    if (task?.status === 'submitted') await this.#pick(engine, [task], executor, ours)
  }

  /** Gives tasks that have none an executor; how many took it. All in one stroke, so that the slots see them in their order. */
  async #pick(
    engine: Engine,
    tasks: readonly EngineTask[],
    executor: TaskExecutor,
    ours: Set<string>,
  ): Promise<number> {
    const { picked } = this.#backing.worker
    const teams = await teamsOf(engine)
    const given = await Promise.all(
      tasks
        // Groups have no work of their own; what has an owner, a role or a team is for them.
        .filter((task) => task.executor === null && !task.group && task.owner === null && task.role === null)
        .filter((task) => !teams.has(task.id))
        .map(async ({ id }) => {
          picked.set(id, executor)
          try {
            await engine.update(id, { executor: exoExecutorName, ...this.#policy })
            ours.add(id)
            return true
          } catch (error) {
            picked.delete(id)
            // Begun by hand, canceled or deleted since it was listed: it is not ours to run.
            if (ErrandError.isInstance(error) && ['INVALID_TRANSITION', 'NOT_FOUND'].includes(error.code)) return false
            throw error
          }
        }),
    )
    return given.filter(Boolean).length
  }
}

/** The tasks that agents join, as far as they are not over. */
async function teamsOf(engine: Engine): Promise<Set<string>> {
  const found = new Set<string>()
  for (let last = pageSize; last === pageSize; ) {
    const page = { status: 'active', limit: pageSize, offset: found.size } as const
    const { tasks } = await engine.bus.call('task:teams', page)
    for (const { id } of tasks) found.add(id)
    last = tasks.length
  }
  return found
}
