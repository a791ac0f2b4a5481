// Exo's TaskScheduler: gives SUBMITTED tasks an executor of the engine, and waits. The engine manages slots, order and aborts.
import { z } from 'zod'
import type { Duration } from '../../core/duration.ts'
import { durationSchema } from '../../core/duration-schema.ts'
import { ErrandError } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { parse, requireFunction } from '../../core/parse.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { Task as EngineTask } from '../../entities/task.ts'
import { type RetryOptions, retrySchema } from '../../entities/task-fields.ts'
import { type Backing, backingOf, callEngine } from './backing.ts'
import { exoExecutorName, type TaskExecutor } from './exo-executor.ts'
import { listAll, pageSize, type Task, viewOf } from './task.ts'
import { withExoErrors, withExoErrorsSync } from './task-error.ts'
import type { TaskManager } from './task-manager.ts'

export interface TaskSchedulerOptions {
  /**
   * Maximum number of running tasks. Default 3. If a manager has several schedulers, the latest `schedule` sets it. A given engine also
   * applies its own limits.
   */
  maxConcurrent?: number
  /** As for the manager, for tasks created from now on. */
  autoComplete?: boolean
  /** Maximum duration of a run in milliseconds, after which the task fails with `TIMEOUT`. Default: none. */
  timeoutMs?: Duration
  /** Attempts per task, and the pause between them. Default: one attempt. */
  retry?: number | RetryOptions
}

type TaskPolicy = Pick<TaskSchedulerOptions, 'timeoutMs' | 'retry'>

const maxConcurrentSchema = z.int().min(1).max(1_000_000)
const schedulerOptionsSchema = z.strictObject({
  maxConcurrent: maxConcurrentSchema.default(3),
  autoComplete: z.boolean().optional(),
  timeoutMs: durationSchema({ min: 1 }).optional(),
  retry: retrySchema().optional(),
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

  /** @throws TaskError INVALID_INPUT for a limit that is not a positive integer, or a value that is not a TaskManager; UNKNOWN_OPTION. */
  constructor(manager: TaskManager, options: TaskSchedulerOptions = {}) {
    const backing = withExoErrorsSync(() => backingOf(manager))
    const { maxConcurrent, autoComplete, ...policy } = withExoErrorsSync(() =>
      parse(schedulerOptionsSchema, options, 'new TaskScheduler'),
    )
    this.#backing = backing
    this.#maxConcurrent = maxConcurrent
    this.#policy = omitUndefined(policy) as TaskPolicy
    if (autoComplete !== undefined) backing.autoComplete = autoComplete
  }

  get maxConcurrent(): number {
    return this.#maxConcurrent
  }

  /**
   * Changes the limit. Running tasks continue: a lower limit only keeps others from starting.
   * @throws TaskError INVALID_INPUT for a value that is not a positive integer.
   */
  setMaxConcurrent(maxConcurrent: number): Promise<void> {
    return withExoErrors(async () => {
      const limit = parse(maxConcurrentSchema, maxConcurrent, 'setMaxConcurrent')
      await this.#backing.limit(limit)
      this.#maxConcurrent = limit
    })
  }

  /**
   * Runs every SUBMITTED task without executor, owner, role and team, by priority and then age, including those submitted meanwhile.
   * Resolves when no task is running, queued or waiting for its next attempt, to the tasks whose executor was called, in the order of
   * their starts and in their current state. Empty if there was nothing to do.
   *
   * From then on the engine owns these tasks: after `resume`, `retry` or an answer it runs them again, with the executor given last. A
   * failing executor fails only its own task.
   * @throws TaskError INVALID_INPUT for a value that is not a function, UNKNOWN_EXECUTOR for a given engine without `exo`.
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
        // Canceled or deleted before they ran.
        for (const id of ours) worker.picked.delete(id)
      }
      const handled = await Promise.all([...round].map((id) => engine.get(id)))
      return handled.filter((task) => task !== null).map(viewOf)
    })
  }

  /** WORKING → PAUSED: the signal aborts, and the result of that run is ignored. @throws InvalidTransitionError, TaskNotFoundError. */
  pause(id: string): Promise<Task> {
    return callEngine(this.#backing, (engine) => engine.pause(id))
  }

  /** PAUSED → WORKING as soon as a slot is free. @throws InvalidTransitionError, TaskNotFoundError. */
  resume(id: string): Promise<Task> {
    return callEngine(this.#backing, (engine) => engine.resume(id))
  }

  /** Cancels the task and its unsettled descendants; their runs are aborted. @throws InvalidTransitionError, TaskNotFoundError. */
  cancel(id: string, reason?: string): Promise<Task> {
    return callEngine(this.#backing, (engine) => engine.cancel(id, reason))
  }

  /** FAILED → SUBMITTED, a new attempt. @throws InvalidTransitionError, TaskNotFoundError. */
  retry(id: string): Promise<Task> {
    return callEngine(this.#backing, (engine) => engine.retry(id))
  }

  async #pickNew(engine: Engine, id: string, executor: TaskExecutor, ours: Set<string>): Promise<void> {
    const task = await engine.get(id)
    if (task?.status === 'submitted') await this.#pick(engine, [task], executor, ours)
  }

  /** Gives tasks an executor and returns how many accepted it; all at once, so that slots are assigned in their order. */
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
        // Groups have no work of their own; tasks with an owner, a role or a team are left to them.
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
            // Started by hand, canceled or deleted since it was listed.
            if (ErrandError.isInstance(error) && ['INVALID_TRANSITION', 'NOT_FOUND'].includes(error.code)) return false
            throw error
          }
        }),
    )
    return given.filter(Boolean).length
  }
}

/** The tasks of teams that have not ended. */
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
