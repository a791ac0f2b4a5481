// Follows a round until nothing of it goes on any more. Nothing is polled: the feed says when something happened, by
// whichever process, and only when it looks as if all were quiet is the ledger asked whether they are.
import type { Engine } from '../../api.ts'
import type { TaskEvent } from '../../entities/event.ts'
import { isSettled, type Task } from '../../entities/task.ts'
import { ErrandError } from '../../errors.ts'
import type { KnownRound } from './plan-round.ts'
import { readRound } from './prepare-round.ts'
import type { Reporter } from './reporter.ts'
import type { RunView } from './run-view.ts'
import { isGoingOn } from './verdict.ts'

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
}

/** Resolves when the round is quiet, or at once when the user wants to stop. */
export async function followRound(options: FollowOptions): Promise<void> {
  const { engine, feed, view, reporter, signal, bell } = options
  feed.open((event) => {
    const row = view.apply(event)
    if (row !== undefined) reporter.event(event, row)
    if (view.looksIdle) bell.ring()
  })
  const unwatch = engine.watch(() => bell.ring())
  const onAbort = () => bell.ring()
  signal.addEventListener('abort', onAbort)
  try {
    while (!signal.aborted && (await goesOn(options))) await bell.rung()
  } finally {
    signal.removeEventListener('abort', onAbort)
    unwatch()
  }
}

async function goesOn({ engine, round, view }: FollowOptions): Promise<boolean> {
  if (!engine.activity().working) {
    throw new ErrandError(
      'ENGINE_CLOSED',
      'The engine has stopped in the middle of the run. What is durable stays; run again.',
    )
  }
  if (engine.activity().running.some(({ taskId }) => view.row(taskId) !== undefined)) return true
  const known = await readRound(engine, round)
  view.refresh(tasksOf(known))
  const open = tasksOf(known).filter((task) => task.executor !== null && !isSettled(task.status))
  if (open.some((task) => isGoingOn(task, undefined))) return true
  for (const task of open) if (!isBlocked(task) && isGoingOn(task, await engine.why(task.id))) return true
  return false
}

/** Nothing but other tasks can set it going, and those are looked at themselves. */
function isBlocked(task: Task): boolean {
  return task.status === 'submitted' && task.blockedBy.length > 0
}

export function tasksOf(known: KnownRound): Task[] {
  return [...known.newest.values()].map(({ task }) => task)
}

/** Wakes one waiter. Rings are not counted: one that came while nobody waited is heard at the next wait. */
export class Bell {
  #heard = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#heard = true
    this.#wake?.()
  }

  async rung(): Promise<void> {
    if (!this.#heard) await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#heard = false
    this.#wake = undefined
  }
}
