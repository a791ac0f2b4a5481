// `errand board --watch`: the board for as long as somebody looks. The feed says when something changed, in whichever process, and
// only then is the ledger read; on a terminal no more often than a person can see.
import { lineOf } from '../../board/list-text.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { type BoardChoice, chosenTasks, isChosen } from './board-choice.ts'
import { type BoardPicture, drawBoard, newsShown } from './board-frame.ts'
import type { BoardAccess } from './board-place.ts'
import { exitCodes } from './exit-code.ts'
import { Bell, rest } from './follow-round.ts'
import { type CommandIo, hasColor, isLiveTerminal, print, printJson } from './io.ts'
import { LiveScreen } from './live-screen.ts'
import { NewsFeed } from './news-feed.ts'
import { createPaint } from './paint.ts'

/** Between two looks at the board; a look that takes long is given more. */
const shortestRestMs = 100
const longestRestMs = 1_000
const restPerLook = 4
/** Ages and leases are redrawn so often; nothing is read for it. */
const tickMs = 1_000

export interface WatchBoardOptions {
  choice: BoardChoice
  json: boolean
  clock?: Clock
}

/** Resolves when the user wants to stop. */
export async function watchBoard(io: CommandIo, place: BoardAccess, options: WatchBoardOptions): Promise<number> {
  const stop = new AbortController()
  const bell = new Bell()
  const unlisten = io.onInterrupt(() => {
    stop.abort()
    bell.ring()
  })
  const feed = new NewsFeed(place, bell)
  try {
    const watch = isLiveTerminal(io) && !options.json ? watchOnScreen : watchAsLines
    await watch(io, place, options, { feed, bell, signal: stop.signal })
    return exitCodes.interrupted
  } finally {
    feed.close()
    unlisten()
  }
}

interface Watching {
  feed: NewsFeed
  bell: Bell
  signal: AbortSignal
}

async function watchOnScreen(
  io: CommandIo,
  place: BoardAccess,
  { choice, clock = systemClock }: WatchBoardOptions,
  { feed, bell, signal }: Watching,
): Promise<void> {
  const screen = new LiveScreen(io.stdout)
  const paint = createPaint(hasColor(io))
  const news: Array<{ at: number; words: string }> = []
  let timer: unknown
  const draw = (picture: BoardPicture) => {
    clock.clearTimeout(timer)
    // A terminal that does not know its size says 0. Its last line is for the cursor.
    const size = { columns: (io.stdout.columns || 80) - 1, height: (io.stdout.rows || 24) - 1 }
    screen.draw(drawBoard(picture, { now: clock.now(), paint, ...size }))
    timer = clock.setTimeout(() => draw(picture), tickMs)
  }
  try {
    while (!signal.aborted) {
      const begunAt = clock.now()
      for await (const { event, words } of feed.take(newsShown)) news.push({ at: event.at, words })
      news.splice(0, news.length - newsShown)
      const { tasks, total } = await chosenTasks(place, choice)
      feed.learn(tasks)
      draw({ board: place.board, tasks, unread: total - tasks.length, news })
      const restMs = Math.min(Math.max((clock.now() - begunAt) * restPerLook, shortestRestMs), longestRestMs)
      await bell.rung()
      await rest(clock, restMs, signal)
    }
  } finally {
    clock.clearTimeout(timer)
    screen.end()
  }
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
    await bell.rung()
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
