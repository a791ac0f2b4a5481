// What runs in an engine now, in the two collections that a task manager shows. They follow the engine's own read model; nothing
// else of a task is held in memory (conformance S0-098).

import type { RunningTask } from '../../api/views.ts'
import type { Engine } from '../../engine-api.ts'

/** `activeTaskIds` and `executionLoops` hold one entry for each open run of the engine, from its start until it has settled. */
export class RunningTasks {
  readonly activeTaskIds = new Set<string>()
  /** Each resolves when the run has ended, however it did. It never rejects. */
  readonly executionLoops = new Map<string, Promise<void>>()
  /** How each run ends here, by task and run: a task may run again before anybody was told that it had stopped. */
  readonly #ends = new Map<string, () => void>()

  follow(engine: Engine): void {
    const running = engine.status.select((status) => status.running)
    this.#show(running.get())
    running.subscribe((now) => this.#show(now))
  }

  /** Nothing runs any more: the engine is closed. */
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
