// The changes of one board, read from the event feed: each event that changes what the board shows, with the current task. The
// feed keeps the tasks that it has seen, so that a task that has left the board can still be named by its number.

import { ErrandError } from '../../core/errors.ts'
import type { Notifier } from '../../core/notifier.ts'
import type { BoardTask } from '../../entities/board.ts'
import type { TaskEvent } from '../../entities/event.ts'
import { type BoardChange, changesOf, labelOf } from '../terminal/board-changes.ts'
import { cliCaller } from '../terminal/caller.ts'
import type { BoardAccess } from './board-target.ts'

export class BoardFeed {
  readonly #access: BoardAccess
  readonly #unsubscribe: () => void
  readonly #events: TaskEvent[] = []
  readonly #known = new Map<string, BoardTask>()

  /** Collects events from now on, and rings `bell` for each. */
  constructor(access: BoardAccess, bell: Notifier) {
    this.#access = access
    this.#unsubscribe = access.engine.subscribe('*', (event) => {
      if (!event.type.startsWith('task.')) return
      this.#events.push(event)
      bell.notify()
    })
  }

  /** Keeps tasks of the board, as they were just read. */
  remember(tasks: readonly BoardTask[]): void {
    for (const task of tasks) this.#known.set(task.taskId, task)
  }

  /** Yields the changes since the last call, in order; at most the latest `max`. */
  async *take(max = Number.POSITIVE_INFINITY): AsyncGenerator<BoardChange & { before: BoardTask | undefined }> {
    const events = this.#events.splice(0).slice(-max)
    for (const event of events) {
      const before = this.#known.get(event.taskId)
      const task = await this.#read(event.taskId)
      const last = task ?? before
      if (last === undefined) continue
      if (task !== undefined) this.#known.set(event.taskId, task)
      else if (event.type === 'task.deleted') this.#known.delete(event.taskId)
      const change = changesOf(event, task, labelOf(last))
      if (change !== undefined) yield { ...change, before }
    }
  }

  close(): void {
    this.#unsubscribe()
  }

  /** Returns undefined for a task that is deleted, or on another board only. */
  async #read(taskId: string): Promise<BoardTask | undefined> {
    const { engine, board } = this.#access
    try {
      const { task } = await engine.bus.call('board:get', { id: taskId, board }, cliCaller)
      return task.id === 0 ? undefined : task
    } catch (error) {
      if (ErrandError.isInstance(error) && error.code === 'NOT_FOUND') return undefined
      throw error
    }
  }
}
