// The running tasks of an engine, in the two collections of a task manager. They follow the engine's read model; no other state of a
// task is held in memory.

import type { Engine } from '../../engine/engine-api.ts'
import type { RunningTask } from '../../entities/views.ts'

/** `activeTaskIds` and `executionLoops` have one entry for each open run of the engine, from its start until it has settled. */
export class RunningTasks {
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
