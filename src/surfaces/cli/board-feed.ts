// The feed as news of one board: each event that changes something it shows, with the task as it is by then. Tasks that have left
// the board are still known by their number.

import { ErrandError } from '../../core/errors.ts'
import type { Notifier } from '../../core/notifier.ts'
import type { BoardTask } from '../../entities/board.ts'
import type { TaskEvent } from '../../entities/event.ts'
import { type BoardChange, changesOf, labelOf } from '../../terminal/board-changes.ts'
import { cliCaller } from '../../terminal/caller.ts'
import type { BoardAccess } from './board-target.ts'

export class BoardFeed {
  readonly #place: BoardAccess
  readonly #unsubscribe: () => void
  readonly #events: TaskEvent[] = []
  readonly #known = new Map<string, BoardTask>()

  /** Collects from now on, and rings for each event. */
  constructor(place: BoardAccess, bell: Notifier) {
    this.#place = place
    this.#unsubscribe = place.engine.subscribe('*', (event) => {
      if (!event.type.startsWith('task.')) return
      this.#events.push(event)
      bell.notify()
    })
  }

  /** Tasks of the board, as they were just read. */
  learn(tasks: readonly BoardTask[]): void {
    for (const task of tasks) this.#known.set(task.taskId, task)
  }

  /** What came since the last time, in order; of very much only the latest `most`. */
  async *take(most = Number.POSITIVE_INFINITY): AsyncGenerator<BoardChange & { before: BoardTask | undefined }> {
    const events = this.#events.splice(0).slice(-most)
    for (const event of events) {
      const before = this.#known.get(event.taskId)
      const task = await this.#read(event.taskId)
      const last = task ?? before
      if (last === undefined) continue
      if (task !== undefined) this.#known.set(event.taskId, task)
      else if (event.type === 'task.deleted') this.#known.delete(event.taskId)
      const news = changesOf(event, task, labelOf(last))
      if (news !== undefined) yield { ...news, before }
    }
  }

  close(): void {
    this.#unsubscribe()
  }

  /** Undefined for a task that is gone, or on another board only. */
  async #read(taskId: string): Promise<BoardTask | undefined> {
    const { engine, board } = this.#place
    try {
      const { task } = await engine.bus.call('board:get', { id: taskId, board }, cliCaller)
      return task.id === 0 ? undefined : task
    } catch (error) {
      if (ErrandError.isInstance(error) && error.code === 'NOT_FOUND') return undefined
      throw error
    }
  }
}
