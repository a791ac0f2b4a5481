// Follows a round until nothing of it goes on any more. Nothing is polled: the feed says when something happened, by
// whichever process, and only when it looks as if all were quiet is the ledger asked whether they are. One look answers for
// all that happened before it, and a wide round is not looked at more often than it can bear.
import type { Engine } from '../../api.ts'
import { type Clock, systemClock } from '../../clock.ts'
import type { TaskEvent } from '../../entities/event.ts'
import { isSettled, type Task } from '../../entities/task.ts'
import { ErrandError } from '../../errors.ts'
import { rest } from '../../signals.ts'
import type { Bell } from './bell.ts'
import { goesOn } from './going-on.ts'
import type { KnownRound } from './plan-round.ts'
import { readRound } from './prepare-round.ts'
import type { Reporter } from './reporter.ts'
import type { RunView } from './run-view.ts'

/** After a look at the whole round at least so many times its own length passes until the next one. */
const restPerLook = 4
const longestRestMs = 1_000

/** Collects the feed from before a round is made, since the ids of its tasks are known only afterwards. */
export class RoundFeed {
  readonly #unsubscribe: () => void
  #waiting: TaskEvent[] | undefined = []
  #take: (event: TaskEvent) => void = () => {}

  constructor(engine: Engine) {
    this.#unsubscribe = engine.subscribe('*', (event) => {
      if (this.#waiting === undefined) this.#take(event)
      else this.#waiting.push(event)
    })
  }

  /** From here on events go to `take`, those that were collected first. */
  open(take: (event: TaskEvent) => void): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    this.#take = take
    for (const event of waiting) take(event)
  }

  close(): void {
    this.#unsubscribe()
  }
}

export interface FollowOptions {
  engine: Engine
  round: string
  feed: RoundFeed
  view: RunView
  reporter: Reporter
  /** Aborts when the user wants to stop. */
  signal: AbortSignal
  /** Rung by whoever knows a reason to look again. */
  bell: Bell
  clock?: Clock
}

/** Resolves when the round is quiet, or at once when the user wants to stop. */
export async function followRound(options: FollowOptions): Promise<void> {
  const { engine, feed, view, reporter, signal, bell, clock = systemClock } = options
  feed.open((event) => {
    const row = view.apply(event)
    if (row !== undefined) reporter.event(event, row)
    if (view.looksIdle) bell.ring()
  })
  const watching = engine.status.subscribe(() => bell.ring())
  try {
    while (!signal.aborted) {
      const begunAt = clock.now()
      const quiet = !(await roundGoesOn(options))
      // A round is read page by page: what happened meanwhile may stand in none of them.
      if (quiet && !bell.heard) return
      const restMs = Math.min((clock.now() - begunAt) * restPerLook, longestRestMs)
      await bell.rung(signal)
      await rest(clock, restMs, signal)
    }
  } finally {
    watching.unsubscribe()
  }
}

async function roundGoesOn({ engine, round, view }: FollowOptions): Promise<boolean> {
  if (!engine.status.get().context.working) {
    throw new ErrandError(
      'ENGINE_CLOSED',
      'The engine has stopped in the middle of the run. What is durable stays; run again.',
    )
  }
  if (engine.status.get().context.running.some(({ taskId }) => view.row(taskId) !== undefined)) return true
  const known = await readRound(engine, round)
  view.refresh(tasksOf(known))
  const open = tasksOf(known).filter((task) => !task.group && !isSettled(task.status))
  return await goesOn(engine, open)
}

export function tasksOf(known: KnownRound): Task[] {
  return [...known.newest.values()].map(({ task }) => task)
}
