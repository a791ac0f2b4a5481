// The one executor that an engine has for Exo's tasks. What it does is said later, by `schedule`: an engine must know its
// executors before it begins, and a scheduler may be given another function each time.
import { defineExecutor, type Executor, type ExecutorTask, type Run } from '../../api/executor.ts'
import { untilAborted } from '../../core/signals.ts'
import { type Task, viewOf } from './task.ts'

/**
 * Does the work of one task. A run that is paused or canceled aborts `signal`, and what it returns is ignored. `run` is
 * the engine's: calls, questions and waits made through it are found again by the next run.
 */
export type TaskExecutor = (task: Task, signal: AbortSignal, run: Run) => unknown

/** Under this name an engine has to know the executor that `createExoExecutor` made. */
export const exoExecutorName = 'exo'

/** What a scheduler gives the executor of an engine, and hears of it. */
export class Work {
  /** What runs a task for which nothing else was said. */
  latest: TaskExecutor | undefined
  /** By task, for those that were picked and have not run yet. */
  readonly picked = new Map<string, TaskExecutor>()
  /** Live runs, by task. */
  readonly runs = new Map<string, Run>()
  /** One for each `schedule` that is under way: the tasks that have begun since. */
  readonly rounds = new Set<Set<string>>()
  readonly #first = Promise.withResolvers<void>()

  offer(executor: TaskExecutor): void {
    this.latest = executor
    this.#first.resolve()
  }

  async perform(task: ExecutorTask, run: Run): Promise<unknown> {
    this.runs.set(task.id, run)
    try {
      // After a restart the engine may be ready to go on before anybody has said with what.
      if (this.latest === undefined) await untilAborted(this.#first.promise, run.signal)
      const executor = this.picked.get(task.id) ?? (this.latest as TaskExecutor)
      for (const round of this.rounds) round.add(task.id)
      this.picked.delete(task.id)
      return await executor(viewOf(task), run.signal, run)
    } finally {
      if (this.runs.get(task.id) === run) this.runs.delete(task.id)
    }
  }
}

/** By executor: how a manager finds what it shares with the one that its engine was given. */
export const workOf = new WeakMap<object, Work>()

/**
 * What an engine of your own needs to run the tasks of a TaskManager: register it as `exo` and hand it to both.
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
