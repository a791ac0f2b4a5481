// The durable feed as an iterator: from a cursor on, in pages, then live.
import type { TaskEvent } from '../entities/event.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { purgedThrough, requireCursor } from '../steps/purge.ts'
import type { Feed } from './feed.ts'

const pageSize = 500

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
  { after, signal, follow, taskId }: EventStreamOptions,
): AsyncGenerator<TaskEvent, void, void> {
  let cursor = after
  /** Up to where events had left the ledger at the last read: only what leaves later can be missed. */
  let known: number | undefined
  while (!signal?.aborted) {
    const moved = feed.moved(signal)
    const from = cursor
    const page = await ledger.read(function* (tx) {
      const through = taskId === undefined ? yield* purgedThrough(tx) : undefined
      if (through !== known) yield* requireCursor(tx, from)
      known = through
      return yield* tx.event.after(from, pageSize, taskId)
    })
    for (const event of page) {
      cursor = event.seq
      yield event
      if (signal?.aborted) return
    }
    if (page.length > 0) continue
    if (!follow || feed.stopped) return
    await moved
  }
}
