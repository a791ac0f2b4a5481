// A reader of the feed with a position. From the end on, it gets the events as the feed publishes them; further back, it reads them from the
// ledger. Both give the same events, so one that keeps up causes no reads, and one that is slow costs a position, not memory.
import { nextTurn } from '../core/turns.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { Feed } from './feed.ts'

export const pageSize = 500
/** Events kept in memory for one reader, and the length of their data as JSON; one that is further behind reads from the ledger again. */
const maxKept = 1_000
const maxKeptLength = 4 * 1024 * 1024

/** Reads the events after a position; undefined when nothing is read any more. */
export type PageReader = (after: number) => Promise<TaskEvent[] | undefined>

/** `live` false: ends at the present end of the ledger. `taskId`: only the events of this task. */
export interface FollowerOptions {
  live?: boolean
  taskId?: string | undefined
}

export class Follower {
  readonly #feed: Feed
  readonly #read: PageReader
  readonly #tail: Tail | undefined
  #cursor: number
  /** The latest events were read, so more reads may follow at once. */
  #hasRead = false

  constructor(feed: Feed, after: number, read: PageReader, { live = true, taskId }: FollowerOptions = {}) {
    this.#feed = feed
    this.#cursor = after
    this.#read = read
    this.#tail = live ? new Tail(feed, taskId) : undefined
  }

  /** The feed has published events after the position. */
  get isBehind(): boolean {
    return this.#cursor < this.#feed.cursor
  }

  /** The next events; none when it has caught up with the feed; undefined when there will be no more. */
  async take(): Promise<TaskEvent[] | undefined> {
    for (;;) {
      const kept = this.#tail?.after(this.#cursor)
      if (kept !== undefined) {
        this.#hasRead = false
        return this.#taken(kept)
      }
      // Taken before the read: an event that is published during it may not be in the page.
      const keptFrom = this.#tail?.from ?? 0
      // A long way back is a row of reads, which SQLite answers without giving way to timers and signals.
      if (this.#hasRead) await nextTurn()
      this.#hasRead = true
      const page = await this.#read(this.#cursor)
      if (page === undefined) return undefined
      if (page.length > 0) return this.#taken(page)
      if (this.#tail === undefined || this.#feed.stopped) return undefined
      // What was between the two has been purged.
      this.#cursor = Math.max(this.#cursor, keptFrom)
    }
  }

  /** Non-empty pages of what is available, until the signal aborts or there will be no more. */
  async *pages(signal?: AbortSignal): AsyncGenerator<TaskEvent[], void, void> {
    try {
      while (!signal?.aborted) {
        const { moves } = this.#feed
        const page = await this.take()
        if (page === undefined) return
        if (page.length > 0) yield page
        else await this.#feed.moved(signal, moves)
      }
    } finally {
      this.end()
    }
  }

  end(): void {
    this.#tail?.end()
  }

  #taken(events: TaskEvent[]): TaskEvent[] {
    this.#cursor = events.at(-1)?.seq ?? this.#cursor
    return events
  }
}

/**
 * A follower for a component without a caller to throw to: its reads are retried, and events that were purged before it came to them are
 * left out.
 */
export function followFeed(feed: Feed, after: number, doing: string): Follower {
  return new Follower(feed, after, (from) =>
    feed.read(function* (tx) {
      return (yield* tx.event.pageAfter(from, pageSize)).rows
    }, doing),
  )
}

/** The latest events published by the feed: all after a position. */
class Tail {
  readonly #feed: Feed
  readonly #unlisten: () => void
  #kept: TaskEvent[] = []
  #length = 0
  #from: number

  constructor(feed: Feed, taskId: string | undefined) {
    this.#feed = feed
    this.#from = feed.cursor
    const keep = (event: TaskEvent): void => this.#keep(event)
    this.#unlisten = taskId === undefined ? feed.listen(keep) : feed.listenTo(taskId, keep)
  }

  /** All events after this position are kept. */
  get from(): number {
    return this.#from
  }

  /** Copies of the events after a position; undefined when some of them are no longer kept. */
  after(position: number): TaskEvent[] | undefined {
    if (this.#feed.stopped || position < this.#from) return undefined
    const found = this.#kept.filter((event) => event.seq > position)
    this.#restart(position)
    return found.map((event) => ({ ...event, data: { ...event.data } }))
  }

  end(): void {
    this.#unlisten()
    this.#restart(this.#from)
  }

  #keep(event: TaskEvent): void {
    this.#length += JSON.stringify(event.data).length
    if (this.#kept.length === maxKept || this.#length > maxKeptLength) this.#restart(event.seq)
    else this.#kept.push(event)
  }

  #restart(from: number): void {
    this.#kept = []
    this.#length = 0
    this.#from = from
  }
}
