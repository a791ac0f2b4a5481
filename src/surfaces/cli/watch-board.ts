// `errand board --watch`: the board for as long as somebody looks. The feed says when something changed, in whichever process, and
// only then is the ledger read; on a terminal no more often than a person can see.
import { lineOf } from '../../board/list-text.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import { Notifier } from '../../core/notifier.ts'
import { type BoardPicture, changesShown, drawBoard } from '../../terminal/board-frame.ts'
import { exitCodes } from '../../terminal/exit-code.ts'
import { type CommandIo, hasColor, isLiveTerminal, print, printJson } from '../../terminal/io.ts'
import { createPaint } from '../../terminal/paint.ts'
import { untilInterrupted } from '../../terminal/stop-listener.ts'
import { watchScreen } from '../../terminal/watch-screen.ts'
import { BoardFeed } from './board-feed.ts'
import { type BoardAccess, type BoardChoice, chosenTasks, isChosen } from './board-target.ts'

export interface WatchBoardOptions {
  choice: BoardChoice
  json: boolean
  clock?: Clock
}

/** Resolves when the user wants to stop. */
export async function watchBoard(io: CommandIo, place: BoardAccess, options: WatchBoardOptions): Promise<number> {
  return await untilInterrupted(io, async (signal) => {
    const bell = new Notifier()
    const feed = new BoardFeed(place, bell)
    try {
      const watch = isLiveTerminal(io) && !options.json ? watchOnScreen : watchAsLines
      await watch(io, place, options, { feed, bell, signal })
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
  place: BoardAccess,
  { choice, clock = systemClock }: WatchBoardOptions,
  { feed, bell, signal }: Watching,
): Promise<void> {
  const paint = createPaint(hasColor(io))
  const news: Array<{ at: number; words: string }> = []
  await watchScreen({
    output: io.stdout,
    clock,
    bell,
    signal,
    async read() {
      for await (const { event, words } of feed.take(changesShown)) news.push({ at: event.at, words })
      news.splice(0, news.length - changesShown)
      const { tasks, total } = await chosenTasks(place, choice)
      feed.learn(tasks)
      return { board: place.board, tasks, unread: total - tasks.length, news }
    },
    draw: (picture: BoardPicture, now) =>
      // A terminal that does not know its size says 0. Its last line is for the cursor.
      drawBoard(picture, { now, paint, columns: (io.stdout.columns || 80) - 1, height: (io.stdout.rows || 24) - 1 }),
  })
}

async function watchAsLines(
  io: CommandIo,
  place: BoardAccess,
  { choice, json }: WatchBoardOptions,
  { feed, bell, signal }: Watching,
): Promise<void> {
  const { tasks } = await chosenTasks(place, choice)
  feed.learn(tasks)
  for (const task of tasks) {
    if (json) printJson(io, { task })
    else print(io, lineOf(task))
  }
  while (!signal.aborted) {
    await bell.wait(signal)
    for await (const { event, task, words, before } of feed.take()) {
      if (signal.aborted) return
      const concerns = [before, task].some((each) => each !== undefined && isChosen(each, choice))
      if (!concerns) continue
      if (json)
        printJson(io, { event: event.type, at: event.at, task: task ?? { id: before?.id, taskId: event.taskId } })
      else print(io, words)
    }
  }
}
