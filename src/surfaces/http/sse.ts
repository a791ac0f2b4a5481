// Serves the chunks of an ability as server-sent events, with backpressure: the next chunk is requested only after the client has read
// the previous ones. Chunks that are ready at once are sent in one piece, so a stream never holds more than one piece in memory. All
// resources are released when the stream ends for any reason.
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { inNextTurn } from '../../core/turns.ts'
import type { Answer } from '../web/answer.ts'
import { Refusal } from '../web/problem.ts'
import { OpenLimit } from '../web/rate-limit.ts'
import type { ServedRequest } from '../web/served-request.ts'
import type { StreamShape } from './stream-shapes.ts'

export interface EventStreamSettings {
  maxStreams: number
  maxStreamsPerPrincipal: number
  heartbeatMs: number
  stallMs: number
  clock: Clock
}

export interface StreamRequest {
  request: ServedRequest
  /** The key under which limits count the client. */
  limitKey: string
  /** When the stream ends, whatever is left of it; undefined: only with the last item. */
  endsAt?: number | undefined
  /** Opens the stream of the ability. It starts with the first read and ends when the signal aborts. */
  open: (signal: AbortSignal) => AsyncGenerator<unknown, void, undefined>
  shape: StreamShape
  /** The last event that a reconnecting client received. */
  lastId: number | undefined
  /** Converts an error in the middle of the stream to what the client may see. */
  problem: (error: unknown) => unknown
}

const retryMs = 1_000
/** Size at which a piece is sent, in characters; its last event may exceed it. */
const maxPieceBytes = 64 * 1024
/** How long the response waits for the first chunk, so that an early refusal becomes a status instead of an event. */
const firstChunkMs = 100

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Keeps proxies from buffering events.
  'x-accel-buffering': 'no',
}

/** The open streams of a server. */
export class EventStreams {
  readonly #settings: EventStreamSettings
  readonly #open = new Set<EventStream>()
  readonly #slots: OpenLimit
  #closed = false

  constructor(settings: EventStreamSettings) {
    this.#settings = settings
    this.#slots = new OpenLimit({ maxTotal: settings.maxStreams, maxPerPrincipal: settings.maxStreamsPerPrincipal })
  }

  /**
   * Answers with the stream as the body, or with 204 if the client has received all of it.
   * @throws Refusal 429 beyond the limit per principal, 503 beyond the total limit; ErrandError ENGINE_CLOSED after `endAll`; what the
   *   ability refuses before its first chunk.
   */
  async answer(request: StreamRequest): Promise<Answer> {
    // The server may have been closed while this request was validated.
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'The server is closing.')
    if (request.request.method === 'HEAD') return { status: 200, headers: { ...headers }, body: null }
    const slot = this.#slots.take(request.limitKey)
    if ('full' in slot) throw this.#tooMany(slot.full)
    const stream = new EventStream(request, this.#settings, () => {
      slot.release()
      this.#open.delete(stream)
    })
    this.#open.add(stream)
    const hasMore = await stream.begin()
    return hasMore
      ? { status: 200, headers: { ...headers }, body: stream.body }
      : { status: 204, headers: {}, body: null }
  }

  #tooMany(full: 'principal' | 'all'): Refusal {
    const { maxStreams, maxStreamsPerPrincipal } = this.#settings
    if (full === 'all') {
      const message = `Too many streams: ${maxStreams} are open. Retry when one of them has ended.`
      return new Refusal('TOO_MANY_STREAMS', message, { details: { maxStreams } })
    }
    return new Refusal(
      'TOO_MANY_STREAMS',
      `Too many streams: this client has ${maxStreamsPerPrincipal} open. Close one of them first.`,
      { status: 429, details: { maxStreamsPerPrincipal } },
    )
  }

  endAll(): void {
    this.#closed = true
    for (const stream of this.#open) stream.end()
  }
}

type Received = { result: IteratorResult<unknown, void> } | { error: unknown }

class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #request: StreamRequest
  readonly #settings: EventStreamSettings
  readonly #onEnd: () => void
  readonly #aborting = new AbortController()
  readonly #chunks: AsyncGenerator<unknown, void, undefined>
  readonly #encoder = new TextEncoder()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  /** The next chunk has been requested and not been sent yet. */
  #isRequested = false
  #received: Received | undefined
  #wake: () => void = () => {}
  #hasSentRetry = false
  #lastName: string | undefined
  #stalled: unknown
  #expiry: unknown
  #ended = false

  constructor(request: StreamRequest, settings: EventStreamSettings, onEnd: () => void) {
    this.#request = request
    this.#settings = settings
    this.#onEnd = onEnd
    this.#chunks = request.open(this.#aborting.signal)
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#sendNext(),
        cancel: () => this.end(),
      },
      { highWaterMark: 0 },
    )
  }

  /** Returns false if there is nothing after `lastId`. @throws the ability's immediate refusal. */
  async begin(): Promise<boolean> {
    const { request } = this.#request
    if (request.signal.aborted) this.end()
    else request.signal.addEventListener('abort', this.end, { once: true })
    await this.#next(firstChunkMs)
    const first = this.#received
    if (first !== undefined && 'error' in first) {
      this.end()
      throw first.error
    }
    if (first !== undefined && this.#isComplete(first.result)) {
      this.end()
      return false
    }
    this.#awaitClient()
    const { endsAt } = this.#request
    const { clock } = this.#settings
    if (endsAt !== undefined && !this.#ended)
      this.#expiry = clock.setTimeout(this.end, Math.max(0, endsAt - clock.now()))
    return true
  }

  /** Ends the stream; used by the client's cancellation, the abort of the request and the server. */
  readonly end = (): void => this.#finish((controller) => controller.close())

  /** True if a reconnecting client has already received everything: the end that it has received is not repeated. */
  #isComplete({ done, value }: IteratorResult<unknown, void>): boolean {
    const { lastId, shape } = this.#request
    if (lastId === undefined) return false
    return done === true || shape.repeatsEnd(value, lastId)
  }

  /** Resolves to true when the next chunk or the end is there, and to false after `ms`. */
  #next(ms: number): Promise<boolean> {
    if (!this.#isRequested) this.#requestNext()
    if (this.#received !== undefined) return Promise.resolve(true)
    const { clock } = this.#settings
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => resolve(false), ms)
      this.#wake = () => {
        clock.clearTimeout(timer)
        resolve(true)
      }
    })
  }

  #requestNext(): void {
    this.#isRequested = true
    const receive = (received: Received): void => {
      this.#received = received
      this.#wake()
    }
    this.#chunks.next().then(
      (result) => receive({ result }),
      (error: unknown) => receive({ error }),
    )
  }

  /** Called when the client has read everything. Sends one piece. */
  async #sendNext(): Promise<void> {
    this.#settings.clock.clearTimeout(this.#stalled)
    if (!this.#hasSentRetry) {
      this.#hasSentRetry = true
      this.#send(`retry: ${retryMs}\n\n`)
    } else if (await this.#next(this.#settings.heartbeatMs)) await this.#sendReceived()
    else this.#send(': heartbeat\n\n')
    this.#awaitClient()
  }

  /** Sends the available chunk and those that follow within the same turn of the event loop. */
  async #sendReceived(): Promise<void> {
    let piece = ''
    let turnIsOver = false
    let proceed: () => void = () => {}
    inNextTurn(() => {
      turnIsOver = true
      proceed()
    })
    while (this.#received !== undefined && !this.#ended) {
      const received = this.#received
      this.#received = undefined
      this.#isRequested = false
      const text = this.#textOf(received)
      if (text === undefined) {
        this.#send(piece + this.#lastText(received))
        this.end()
        return
      }
      piece += text
      if (turnIsOver || piece.length >= maxPieceBytes) break
      this.#requestNext()
      await new Promise<void>((resolve) => {
        proceed = this.#wake = resolve
      })
    }
    this.#send(piece)
  }

  /** Undefined at the end of the stream, after an error too. */
  #textOf(received: Received): string | undefined {
    if ('error' in received || received.result.done) return undefined
    const { value } = received.result
    const { shape } = this.#request
    let text = ''
    for (const item of shape.batches?.itemsOf(value) ?? [value]) {
      this.#lastName = shape.name(item)
      text += eventText(this.#lastName, shape.id(item), item)
    }
    return text
  }

  #lastText(received: Received): string {
    if ('error' in received) return eventText('error', undefined, this.#request.problem(received.error))
    return this.#lastName === 'end' ? '' : eventText('end', undefined, {})
  }

  #send(text: string): void {
    if (!this.#ended && text !== '') this.#controller?.enqueue(this.#encoder.encode(text))
  }

  /** Ends the stream if the client does not read for `stallMs`. */
  #awaitClient(): void {
    const { clock, stallMs } = this.#settings
    if (this.#ended) return
    clock.clearTimeout(this.#stalled)
    this.#stalled = clock.setTimeout(() => {
      this.#finish((controller) => controller.error(new Error('The client has stopped reading.')))
    }, stallMs)
  }

  #finish(close: (controller: ReadableStreamDefaultController<Uint8Array>) => void): void {
    if (this.#ended) return
    this.#ended = true
    this.#settings.clock.clearTimeout(this.#stalled)
    this.#settings.clock.clearTimeout(this.#expiry)
    this.#request.request.signal.removeEventListener('abort', this.end)
    this.#aborting.abort()
    // Not awaited, and its errors are ignored: a blocked ability reaches its `finally` later.
    void this.#chunks.return().catch(() => {})
    this.#wake()
    if (this.#controller !== undefined) closeIfOpen(this.#controller, close)
    this.#onEnd()
  }
}

/** A body that its reader has canceled is already closed. */
function closeIfOpen(
  controller: ReadableStreamDefaultController<Uint8Array>,
  close: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
): void {
  try {
    close(controller)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
}

function eventText(name: string | undefined, id: number | undefined, data: unknown): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`
  const nameLine = name === undefined ? '' : `event: ${name}\n`
  return `${idLine}${nameLine}data: ${JSON.stringify(data) ?? 'null'}\n\n`
}
