// The executor that an engine has for Exo's tasks. `schedule` sets its function later, because an engine needs its executors when it is
// created, and a scheduler may be given another function each time.

import { untilAborted } from '../../core/signals.ts'
import { defineExecutor, type Executor, type ExecutorTask, type Run } from '../../entities/executor.ts'
import { type Task, viewOf } from './task.ts'

/**
 * Does the work of one task. If the run is paused or canceled, `signal` aborts and the return value is ignored. `run` is the engine's:
 * calls, questions and waits made through it are replayed by the next run.
 */
export type TaskExecutor = (task: Task, signal: AbortSignal, run: Run) => unknown

/** The name under which the executor of `createExoExecutor` must be registered. */
export const exoExecutorName = 'exo'

/** The state shared by a scheduler and the engine's executor. */
export class Work {
  /** Runs the tasks that were not picked with another executor. */
  latest: TaskExecutor | undefined
  /** By task id: picked tasks that have not run yet. */
  readonly picked = new Map<string, TaskExecutor>()
  /** Live runs, by task id. */
  readonly runs = new Map<string, Run>()
  /** One set for each active `schedule`: the ids of the tasks that have started since. */
  readonly rounds = new Set<Set<string>>()
  readonly #first = Promise.withResolvers<void>()

  offer(executor: TaskExecutor): void {
    this.latest = executor
    this.#first.resolve()
  }

  async perform(task: ExecutorTask, run: Run): Promise<unknown> {
    this.runs.set(task.id, run)
    const end = (): void => {
      if (this.runs.get(task.id) === run) this.runs.delete(task.id)
    }
    run.onSuspend(end)
    try {
      // After a restart the engine may continue a task before `schedule` has set an executor.
      if (this.latest === undefined) await untilAborted(this.#first.promise, run.signal)
      const executor = this.picked.get(task.id) ?? (this.latest as TaskExecutor)
      for (const round of this.rounds) round.add(task.id)
      this.picked.delete(task.id)
      return await executor(viewOf(task), run.signal, run)
    } finally {
      end()
    }
  }
}

/** By executor: lets a manager find the state that it shares with its engine's executor. */
export const workOf = new WeakMap<object, Work>()

/**
 * Creates the executor that your own engine needs to run the tasks of a TaskManager: register it as `exo` and pass it to both.
 *
 * @example
 * const exo = createExoExecutor()
 * const engine = await createEngine({ ledger: 'tasks.db', executors: { exo } })
 * const manager = new TaskManager({ engine, executor: exo })
 */
export function createExoExecutor(): Executor {
  const work = new Work()
  const executor = defineExecutor({ run: (task, run) => work.perform(task, run) })
  workOf.set(executor, work)
  return executor
}
