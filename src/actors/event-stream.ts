// The durable feed as an async iterator, for programs and clients.
import type { TaskEvent } from '../entities/event.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { purgedThrough, requireCursor, requireReached } from '../operations/steps/purge.ts'
import type { Feed } from './feed.ts'
import { Follower, pageSize } from './follower.ts'

export interface EventStreamOptions {
  after: number
  signal?: AbortSignal | undefined
  /** False: ends at the present end of the ledger. */
  follow: boolean
  taskId?: string | undefined
}

/**
 * @throws ErrandError CURSOR_TOO_OLD when events after the position have been purged. Events of one task are purged
 * with the task. CURSOR_AHEAD for a position that the ledger has not reached.
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
  // What the feed has published is reached; another engine may have written more.
  if (after > feed.cursor) await ledger.read((tx) => requireReached(tx, after))
  /** Position up to which events had been purged at the last read: only a later purge can lose events. */
  let purged: number | undefined
  const read = (from: number) =>
    ledger.read(function* (tx) {
      const through = taskId === undefined ? yield* purgedThrough(tx) : undefined
      if (through !== purged) yield* requireCursor(tx, from)
      purged = through
      return (yield* tx.event.pageAfter(from, pageSize, taskId)).rows
    })
  yield* new Follower(feed, after, read, { live: follow, taskId }).pages(signal)
}
