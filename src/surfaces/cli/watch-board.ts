// `errand board --watch`: shows the board until it is interrupted. The ledger is read only when the feed reports a change, by any
// process; on a terminal only a few times per second.
import { lineOf } from '../../board/list-text.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { Notifier } from '../../core/notifier.ts'
import type { BoardTask } from '../../entities/board.ts'
import type { TaskEvent } from '../../entities/event.ts'
import { type BoardChange, changesOf, labelOf } from '../terminal/board-changes.ts'
import { type BoardPicture, drawBoard, maxChanges } from '../terminal/board-frame.ts'
import { cliCaller } from '../terminal/caller.ts'
import { exitCodes } from '../terminal/exit-code.ts'
import { type CommandIo, hasColor, isLiveTerminal, print, printJson } from '../terminal/io.ts'
import { createPaint } from '../terminal/paint.ts'
import { untilInterrupted } from '../terminal/stop-listener.ts'
import { watchScreen } from '../terminal/watch-screen.ts'
import { type BoardAccess, type BoardChoice, chosenTasks, isChosen } from './board-target.ts'

export interface WatchBoardOptions {
  choice: BoardChoice
  json: boolean
  clock?: Clock
}

/** Resolves when the user interrupts it. */
export async function watchBoard(io: CommandIo, access: BoardAccess, options: WatchBoardOptions): Promise<number> {
  return await untilInterrupted(io, async (signal) => {
    const bell = new Notifier()
    const feed = new BoardFeed(access, bell)
    try {
      const watch = isLiveTerminal(io) && !options.json ? watchOnScreen : watchAsLines
      await watch(io, access, options, { feed, bell, signal })
      return exitCodes.interrupted
    } finally {
      feed.close()
    }
  })
}

interface Watching {
  feed: BoardFeed
  bell: Notifier
  signal: AbortSignal
}

async function watchOnScreen(
  io: CommandIo,
  access: BoardAccess,
  { choice, clock = systemClock }: WatchBoardOptions,
  { feed, bell, signal }: Watching,
): Promise<void> {
  const paint = createPaint(hasColor(io))
  const changes: Array<{ at: number; text: string }> = []
  await watchScreen({
    output: io.stdout,
    clock,
    bell,
    signal,
    async read() {
      for await (const { event, text } of feed.take(maxChanges)) changes.push({ at: event.at, text })
      changes.splice(0, changes.length - maxChanges)
      const { tasks, total } = await chosenTasks(access, choice)
      feed.remember(tasks)
      return { board: access.board, tasks, unread: total - tasks.length, changes }
    },
    draw: (picture: BoardPicture, now) =>
      // A terminal of unknown size reports 0. The last line is left to the cursor.
      drawBoard(picture, { now, paint, columns: (io.stdout.columns || 80) - 1, height: (io.stdout.rows || 24) - 1 }),
  })
}

async function watchAsLines(
  io: CommandIo,
  access: BoardAccess,
  { choice, json }: WatchBoardOptions,
  { feed, bell, signal }: Watching,
): Promise<void> {
  const { tasks } = await chosenTasks(access, choice)
  feed.remember(tasks)
  for (const task of tasks) {
    if (json) printJson(io, { task })
    else print(io, lineOf(task))
  }
  while (!signal.aborted) {
    await bell.wait(signal)
    for await (const { event, task, text, before } of feed.take()) {
      if (signal.aborted) return
      const isShown = [before, task].some((each) => each !== undefined && isChosen(each, choice))
      if (!isShown) continue
      if (json)
        printJson(io, { event: event.type, at: event.at, task: task ?? { id: before?.id, taskId: event.taskId } })
      else print(io, text)
    }
  }
}

// The changes of one board, read from the event feed: each event that changes what the board shows, with the current task. The
// feed keeps the tasks that it has seen, so that a task that has left the board can still be named by its number.

class BoardFeed {
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
