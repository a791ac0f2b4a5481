// The stream of one task: replayed from the ledger, then followed live, without gaps or duplicates, to exactly one
// `end`. It keeps a position instead of a queue, so a slow reader costs no memory.

import { ErrandError } from '../core/errors.ts'
import { nextTurn } from '../core/turns.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { MessageRecord } from '../entities/message.ts'
import { isSettled, type TaskStatus } from '../entities/task.ts'
import type { StreamItem } from '../entities/views.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { maxPageBytes } from '../ledger/page-bytes.ts'
import { requireReached } from '../operations/steps/purge.ts'
import { requireTask } from '../operations/steps/step-context.ts'
import type { Feed } from './feed.ts'
import { itemsOf } from './stream-items.ts'

const pageSize = 200
/** Live pieces kept for a reader; a slower one gets the whole message when it is stored. */
const maxLive = 1_000

export interface LiveContent {
  content: string
  /** The message that this is a piece of. */
  messageId?: string
  /** Offset of the piece in the text of the message: a reader that missed a piece sees the gap. */
  offset?: number
  /** Present when a function or a command wrote it to its standard error. */
  stream?: 'stderr'
}

/** Live output by task, for the streams of this process. */
export class LiveOutput {
  readonly #listeners = new Map<string, Set<(content: LiveContent) => void>>()

  publish(taskId: string, content: LiveContent): void {
    for (const listener of this.#listeners.get(taskId) ?? []) listener(content)
  }

  listen(taskId: string, listener: (content: LiveContent) => void): () => void {
    const listeners = this.#listeners.get(taskId) ?? new Set()
    this.#listeners.set(taskId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(taskId)
    }
  }
}

/** Live content with the position of the feed when it was published. */
interface LivePiece extends LiveContent {
  after: number
}

export interface StreamOptions {
  after: number
  signal: AbortSignal | undefined
}

/** @throws ErrandError at the first step: NOT_FOUND for an unknown task, CURSOR_AHEAD for a position that the ledger has not reached. */
export async function* streamTask(
  ledger: Ledger,
  feed: Feed,
  output: LiveOutput,
  taskId: string,
  { after, signal }: StreamOptions,
): AsyncGenerator<StreamItem, void, void> {
  const live: LivePiece[] = []
  let cursor = after
  let wake: () => void = () => {}
  let changed = false
  const notify = (): void => {
    changed = true
    wake()
  }
  const unlisten = [
    output.listen(taskId, (content) => {
      if (live.length < maxLive) live.push({ ...content, after: feed.cursor })
      notify()
    }),
    feed.listenTo(taskId, notify),
  ]
  unlisten.push(feed.onStop(notify))
  signal?.addEventListener('abort', notify)
  try {
    await requireStart(ledger, taskId, after)
    while (!signal?.aborted) {
      changed = false
      const pieces = live.splice(0)
      const page = await readPage(ledger, taskId, cursor)
      const pending = unstored(pieces, page.events)
      for (const event of page.events) {
        while (pending[0] !== undefined && pending[0].after < event.seq) yield contentOf(pending.shift())
        cursor = event.seq
        for (const item of itemsOf(event, page.messages)) yield item
        if (isEnd(event, page.revivedAt)) {
          yield { type: 'end', taskId, seq: event.seq, status: endStatus(event) }
          return
        }
      }
      if (!page.isLast) {
        live.unshift(...pending)
        await nextTurn()
        continue
      }
      for (const piece of pending) yield contentOf(piece)
      // The cursor was at or after the end of the task.
      if (page.events.length === 0 && page.settled !== undefined) {
        yield { type: 'end', taskId, seq: cursor, status: page.settled }
        return
      }
      if (page.events.length > 0 || changed) continue
      if (feed.stopped) throw closedWhileOpen(taskId, cursor)
      await new Promise<void>((resolve) => {
        wake = resolve
        if (changed) resolve()
      })
    }
  } finally {
    signal?.removeEventListener('abort', notify)
    for (const stop of unlisten) stop()
  }

  function contentOf(piece: LivePiece | undefined): StreamItem {
    const { after: _after, ...content } = piece as LivePiece
    return { type: 'content', taskId, seq: cursor, ...content }
  }
}

function requireStart(ledger: Ledger, taskId: string, after: number): Promise<void> {
  return ledger.read(function* (tx) {
    requireTask(yield* tx.task.get(taskId), taskId)
    yield* requireReached(tx, after)
  })
}

/**
 * The pieces whose messages are not in this page. A piece comes after the events published before it and before the
 * message that replaces it.
 */
function unstored(pieces: readonly LivePiece[], events: readonly TaskEvent[]): LivePiece[] {
  const stored = new Set(events.filter(({ type }) => type === 'message.appended').map(({ data }) => data.messageId))
  return pieces.filter(({ messageId }) => messageId === undefined || !stored.has(messageId))
}

function closedWhileOpen(taskId: string, cursor: number): ErrandError {
  return new ErrandError(
    'ENGINE_CLOSED',
    `The engine was closed while ${taskId} was still open. Stream it again with after: ${cursor}.`,
    { taskId, after: cursor },
  )
}

interface StreamPage {
  events: TaskEvent[]
  /** No more events were there at the time of the read. */
  isLast: boolean
  messages: Map<string, MessageRecord>
  /** Position of the latest retry: a failure before it is not the end. */
  revivedAt: number
  /** The status of the task, once it is settled. */
  settled: EndStatus | undefined
}

type EndStatus = Extract<StreamItem, { type: 'end' }>['status']

function readPage(ledger: Ledger, taskId: string, cursor: number): Promise<StreamPage> {
  return ledger.read(function* (tx) {
    const page = yield* tx.event.pageAfter(cursor, pageSize, taskId)
    const messages = new Map<string, MessageRecord>()
    const events: TaskEvent[] = []
    let revivedAt = 0
    let length = 0
    for (const event of page.rows) {
      // The messages of a page may be more than its events; at least one is read.
      if (length > maxPageBytes) break
      events.push(event)
      if (event.type === 'message.appended') {
        const message = yield* tx.message.get(event.data.messageId as string)
        if (message) messages.set(message.id, message)
        length += message?.content.length ?? 0
      } else if (event.type === 'task.failed')
        revivedAt = (yield* tx.event.latestOf(taskId, 'task.retried', 1))[0]?.seq ?? 0
    }
    const status = (yield* tx.task.get(taskId))?.status
    const settled = status !== undefined && isSettled(status) ? (status as EndStatus) : undefined
    return { events, isLast: page.isLast && events.length === page.rows.length, messages, revivedAt, settled }
  })
}

/** A failure is not the end while attempts are left or when the task was retried since. */
function isEnd(event: TaskEvent, revivedAt: number): boolean {
  if (event.type === 'task.completed' || event.type === 'task.canceled') return true
  if (event.type === 'task.failed') return event.data.willRetry !== true && event.seq > revivedAt
  return event.type === 'task.deleted'
}

function endStatus(event: TaskEvent): EndStatus {
  const status = event.data.status as TaskStatus
  return isSettled(status) ? (status as EndStatus) : 'canceled'
}
