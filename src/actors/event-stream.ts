// The durable feed as an iterator: from a cursor on, in pages out of the ledger, then as it is told. What the feed tells is the same
// as what the ledger holds, so whoever keeps up need not have it read once more.
import type { TaskEvent } from '../entities/event.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { purgedThrough, requireCursor } from '../steps/purge.ts'
import type { Feed } from './feed.ts'

const pageSize = 500
/** Events that are kept for one follower; who falls further behind reads on in the ledger. */
const maxKept = 1_000

export interface EventStreamOptions {
  after: number
  signal?: AbortSignal | undefined
  /** False: ends where the ledger ends now. */
  follow: boolean
  taskId?: string | undefined
}

/** @throws ErrandError CURSOR_TOO_OLD for a position after which events have left the ledger; those of one task leave with it. */
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

/** The same in pages, none of them empty: what is there at once, for whoever passes on thousands a second. @throws the same. */
export async function* followPages(
  ledger: Ledger,
  feed: Feed,
  { after, signal, follow, taskId }: EventStreamOptions,
): AsyncGenerator<TaskEvent[], void, void> {
  let cursor = after
  /** Up to where events had left the ledger at the last read: only what leaves later can be missed. */
  let known: number | undefined
  const tail = follow ? new Tail(feed, taskId) : undefined
  try {
    while (!signal?.aborted) {
      const { moves } = feed
      const from = cursor
      // As it was before the read: what is told during it need not be in it.
      const keptFrom = tail?.from ?? 0
      const told = tail?.after(from)
      const page =
        told ??
        (await ledger.read(function* (tx) {
          const through = taskId === undefined ? yield* purgedThrough(tx) : undefined
          if (through !== known) yield* requireCursor(tx, from)
          known = through
          return yield* tx.event.after(from, pageSize, taskId)
        }))
      const latest = page.at(-1)
      if (latest !== undefined) {
        cursor = latest.seq
        yield page
        continue
      }
      if (!follow || feed.stopped) return
      if (told === undefined) cursor = Math.max(cursor, keptFrom)
      else await feed.moved(signal, moves)
    }
  } finally {
    tail?.end()
  }
}

/** The latest events, as the feed tells them: all after a position. */
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

  /** What came after this position is kept. */
  get from(): number {
    return this.#from
  }

  /** Copies of what came after a position, which are its reader's own; undefined when not all of it is here. */
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
