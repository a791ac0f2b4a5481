// The durable feed as an async iterator: from a cursor on, pages are read from the ledger; from the end on, events come
// from the feed. Both give the same events, so a reader that keeps up causes no further reads.
import type { TaskEvent } from '../entities/event.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { purgedThrough, requireCursor } from '../steps/purge.ts'
import type { Feed } from './feed.ts'

const pageSize = 500
/** Events kept in memory for one reader; a reader further behind reads from the ledger again. */
const maxKept = 1_000

export interface EventStreamOptions {
  after: number
  signal?: AbortSignal | undefined
  /** False: ends at the present end of the ledger. */
  follow: boolean
  taskId?: string | undefined
}

/**
 * @throws ErrandError CURSOR_TOO_OLD when events after the position have been purged. Events of one task are purged
 * with the task.
 */
export async function* followEvents(
  ledger: Ledger,
  feed: Feed,
  options: EventStreamOptions,
): AsyncGenerator<TaskEvent, void, void> {
  for await (const page of followPages(ledger, feed, options)) {
    for (const event of page) {
      yield event
      if (options.signal?.aborted) return
    }
  }
}

/** The same in non-empty pages of what is available, for readers of thousands of events a second. @throws the same. */
export async function* followPages(
  ledger: Ledger,
  feed: Feed,
  { after, signal, follow, taskId }: EventStreamOptions,
): AsyncGenerator<TaskEvent[], void, void> {
  let cursor = after
  /** Position up to which events had been purged at the last read: only a later purge can lose events. */
  let purged: number | undefined
  const tail = follow ? new Tail(feed, taskId) : undefined
  try {
    while (!signal?.aborted) {
      const { moves } = feed
      const from = cursor
      // Taken before the read: an event published during the read may not be in the page.
      const keptFrom = tail?.from ?? 0
      const fromTail = tail?.after(from)
      const page =
        fromTail ??
        (await ledger.read(function* (tx) {
          const through = taskId === undefined ? yield* purgedThrough(tx) : undefined
          if (through !== purged) yield* requireCursor(tx, from)
          purged = through
          return yield* tx.event.after(from, pageSize, taskId)
        }))
      const latest = page.at(-1)
      if (latest !== undefined) {
        cursor = latest.seq
        yield page
        continue
      }
      if (!follow || feed.stopped) return
      if (fromTail === undefined) cursor = Math.max(cursor, keptFrom)
      else await feed.moved(signal, moves)
    }
  } finally {
    tail?.end()
  }
}

/** The latest events published by the feed: all after a position. */
class Tail {
  readonly #feed: Feed
  readonly #unlisten: () => void
  #kept: TaskEvent[] = []
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
    this.#kept = []
    this.#from = position
    return found.map((event) => ({ ...event, data: { ...event.data } }))
  }

  end(): void {
    this.#unlisten()
    this.#kept = []
  }

  #keep(event: TaskEvent): void {
    if (this.#kept.length === maxKept) {
      this.#kept = []
      this.#from = event.seq
    } else this.#kept.push(event)
  }
}
