// Follows a round until nothing of it goes on any more. Only when it looks as if all were quiet is the ledger asked whether they
// are. One look answers for all that happened before it, and a wide round is not looked at more often than it can bear.
import type { Engine } from '../engine-api.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { Task } from '../entities/task.ts'
import { type IdleOptions, isActive, waitUntilIdle } from './idle.ts'
import { readRound } from './prepare-round.ts'
import { type KnownRound, openWork, tasksOf } from './round.ts'
import { isOfRound } from './round-key.ts'

/** Collects the feed from before a round is made, since the ids of its tasks are known only afterwards. */
export class RoundFeed {
  readonly close: () => void
  readonly #waiting: TaskEvent[] = []
  #take: (event: TaskEvent) => void = (event) => this.#waiting.push(event)

  constructor(engine: Engine) {
    this.close = engine.subscribe('*', (event) => this.#take(event))
  }

  /** From here on events go to `take`, those that were collected first. */
  open(take: (event: TaskEvent) => void): void {
    this.#take = take
    for (const event of this.#waiting.splice(0)) take(event)
  }
}

export interface FollowOptions extends Pick<IdleOptions, 'engine' | 'bell' | 'signal' | 'clock'> {
  round: string
  feed: RoundFeed
  observer: RoundObserver
}

/** Sees a round while it is followed. */
export interface RoundObserver {
  /** An event of any task of the ledger. */
  event(event: TaskEvent): void
  /** The round as it was just read. */
  refresh(tasks: readonly Task[]): void
  includes(taskId: string): boolean
  /** No task of the round is at work, as far as its events show. */
  readonly looksIdle: boolean
}

/** Resolves to the round as it is when it is quiet, or at once when the user wants to stop: then it may not have been looked at. */
export async function followRound(options: FollowOptions): Promise<KnownRound | undefined> {
  const { engine, round, feed, observer, bell, signal, clock } = options
  let known: KnownRound | undefined
  feed.open((event) => {
    observer.event(event)
    if (observer.looksIdle) bell.notify()
  })
  await waitUntilIdle({
    engine,
    bell,
    signal,
    clock,
    restPerLook: 4,
    stopped: 'The engine has stopped in the middle of the run. What is durable stays; run again.',
    async isActive() {
      if (engine.status.get().context.running.some(({ taskId }) => observer.includes(taskId))) return true
      known = await readRound(engine, round)
      observer.refresh(tasksOf(known))
      return await isActive(engine, openWork(known), (task) => isOfRound(engine, round, task))
    },
  })
  return known
}
