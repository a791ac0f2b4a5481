// Streams as server-sent events. Nothing is taken from an ability before its client has taken what was there; what an ability has ready
// at once is sent in one piece. So a stream holds no more than one such piece in memory, however slow its client is, and lets go of it
// when it ends, for whatever reason.
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { OpenLimit } from '../../web/open-limit.ts'
import { Refusal } from '../../web/problem.ts'
import type { StreamShape } from './stream-shapes.ts'

export interface EventStreamSettings {
  maxStreams: number
  maxStreamsPerPrincipal: number
  heartbeatMs: number
  stallMs: number
  clock: Clock
}

export interface StreamRequest {
  request: Request
  /** Under what name whoever follows it is counted. */
  limitKey: string
  /** Begins when the first chunk is asked for, and ends when the signal aborts. */
  open: (signal: AbortSignal) => AsyncGenerator<unknown, void, undefined>
  shape: StreamShape
  /** Where the client was when it lost the stream. */
  lastId: number | undefined
  /** What went wrong in the midst of it, as a client may know it. */
  problem: (error: unknown) => unknown
}

const retryMs = 1_000
/** Characters of events that are sent in one piece; the last of them may go beyond. */
const maxPieceBytes = 64 * 1024
/** So long the answer waits for the first chunk: a refusal that comes by then is a status, and not an event. */
const firstLookMs = 100

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Proxies that gather answers would keep the events to themselves.
  'x-accel-buffering': 'no',
}

/** All streams that are open. */
export class EventStreams {
  readonly #settings: EventStreamSettings
  readonly #open = new Set<EventStream>()
  readonly #places: OpenLimit
  #closed = false

  constructor(settings: EventStreamSettings) {
    this.#settings = settings
    this.#places = new OpenLimit({ maxTotal: settings.maxStreams, maxPerPrincipal: settings.maxStreamsPerPrincipal })
  }

  /**
   * The answer with the stream as its body; 204 when the client has had all of it.
   * @throws Refusal 429 for one stream of its principal too many, 503 for one of all; ErrandError ENGINE_CLOSED once all have been
   *   ended; what the ability refuses before its first chunk.
   */
  async answer(wanted: StreamRequest): Promise<Response> {
    // It may have been let in before, and judged for long.
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'This server is closing.')
    if (wanted.request.method === 'HEAD') return new Response(null, { headers })
    const place = this.#places.take(wanted.limitKey)
    if ('full' in place) throw this.#tooMany(place.full)
    const stream = new EventStream(wanted, this.#settings, () => {
      place.release()
      this.#open.delete(stream)
    })
    this.#open.add(stream)
    const hasMore = await stream.begin()
    return hasMore ? new Response(stream.body, { headers }) : new Response(null, { status: 204 })
  }

  #tooMany(full: 'principal' | 'all'): Refusal {
    const { maxStreams, maxStreamsPerPrincipal } = this.#settings
    if (full === 'all') {
      const message = `There are ${maxStreams} streams open, and no more are kept. Try again when one of them has ended.`
      return new Refusal('TOO_MANY_STREAMS', message, { details: { maxStreams } })
    }
    return new Refusal(
      'TOO_MANY_STREAMS',
      `You have ${maxStreamsPerPrincipal} streams open, and no more are kept for one client. End one of them first.`,
      { status: 429, details: { maxStreamsPerPrincipal } },
    )
  }

  endAll(): void {
    this.#closed = true
    for (const stream of this.#open) stream.end()
  }
}

type Arrived = { result: IteratorResult<unknown, void> } | { error: unknown }

class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #wanted: StreamRequest
  readonly #settings: EventStreamSettings
  readonly #onEnd: () => void
  readonly #aborting = new AbortController()
  readonly #chunks: AsyncGenerator<unknown, void, undefined>
  readonly #encoder = new TextEncoder()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  /** The next chunk has been asked for and has not been sent. */
  #asked = false
  #arrived: Arrived | undefined
  #wake: () => void = () => {}
  #greeted = false
  #lastName: string | undefined
  #stalled: unknown
  #ended = false

  constructor(wanted: StreamRequest, settings: EventStreamSettings, onEnd: () => void) {
    this.#wanted = wanted
    this.#settings = settings
    this.#onEnd = onEnd
    this.#chunks = wanted.open(this.#aborting.signal)
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

  /** False when there is nothing that the client has not had. @throws what the ability refuses at once. */
  async begin(): Promise<boolean> {
    const { request } = this.#wanted
    if (request.signal.aborted) this.end()
    else request.signal.addEventListener('abort', this.end, { once: true })
    await this.#next(firstLookMs)
    const first = this.#arrived
    if (first !== undefined && 'error' in first) {
      this.end()
      throw first.error
    }
    if (first !== undefined && this.#isOver(first.result)) {
      this.end()
      return false
    }
    this.#awaitClient()
    return true
  }

  /** Ends it, whoever wants that. */
  readonly end = (): void => this.#finish((controller) => controller.close())

  /** To whoever comes back, only what it has not had: the end that it has seen is not new. */
  #isOver({ done, value }: IteratorResult<unknown, void>): boolean {
    const { lastId, shape } = this.#wanted
    if (lastId === undefined) return false
    return done === true || shape.repeatsEnd(value, lastId)
  }

  /** True when the next chunk, or the end, is there; false when nothing has come for so long. */
  #next(ms: number): Promise<boolean> {
    if (!this.#asked) this.#ask()
    if (this.#arrived !== undefined) return Promise.resolve(true)
    const { clock } = this.#settings
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => resolve(false), ms)
      this.#wake = () => {
        clock.clearTimeout(timer)
        resolve(true)
      }
    })
  }

  #ask(): void {
    this.#asked = true
    const arrive = (arrived: Arrived): void => {
      this.#arrived = arrived
      this.#wake()
    }
    this.#chunks.next().then(
      (result) => arrive({ result }),
      (error: unknown) => arrive({ error }),
    )
  }

  /** Called whenever the client has taken everything; sends exactly one thing. */
  async #sendNext(): Promise<void> {
    this.#settings.clock.clearTimeout(this.#stalled)
    if (!this.#greeted) {
      this.#greeted = true
      this.#send(`retry: ${retryMs}\n\n`)
    } else if (await this.#next(this.#settings.heartbeatMs)) await this.#sendArrived()
    else this.#send(': it is quiet\n\n')
    this.#awaitClient()
  }

  /** The chunk that is there, and those that follow it within the same turn of the event loop. */
  async #sendArrived(): Promise<void> {
    let piece = ''
    let turnIsOver = false
    let goOn: () => void = () => {}
    setImmediate(() => {
      turnIsOver = true
      goOn()
    })
    while (this.#arrived !== undefined && !this.#ended) {
      const arrived = this.#arrived
      this.#arrived = undefined
      this.#asked = false
      const text = this.#textOf(arrived)
      if (text === undefined) {
        this.#send(piece + this.#lastText(arrived))
        this.end()
        return
      }
      piece += text
      if (turnIsOver || piece.length >= maxPieceBytes) break
      this.#ask()
      await new Promise<void>((resolve) => {
        goOn = this.#wake = resolve
      })
    }
    this.#send(piece)
  }

  /** Undefined when it is the end, well or not. */
  #textOf(arrived: Arrived): string | undefined {
    if ('error' in arrived || arrived.result.done) return undefined
    const { value } = arrived.result
    const { shape } = this.#wanted
    let text = ''
    for (const item of shape.lots?.itemsOf(value) ?? [value]) {
      this.#lastName = shape.name(item)
      text += eventText(this.#lastName, shape.id(item), item)
    }
    return text
  }

  #lastText(arrived: Arrived): string {
    if ('error' in arrived) return eventText('error', undefined, this.#wanted.problem(arrived.error))
    return this.#lastName === 'end' ? '' : eventText('end', undefined, {})
  }

  #send(text: string): void {
    if (!this.#ended && text !== '') this.#controller?.enqueue(this.#encoder.encode(text))
  }

  /** A client that takes nothing any more holds no stream. */
  #awaitClient(): void {
    const { clock, stallMs } = this.#settings
    if (this.#ended) return
    clock.clearTimeout(this.#stalled)
    this.#stalled = clock.setTimeout(() => {
      this.#finish((controller) => controller.error(new Error('The client takes nothing any more.')))
    }, stallMs)
  }

  #finish(close: (controller: ReadableStreamDefaultController<Uint8Array>) => void): void {
    if (this.#ended) return
    this.#ended = true
    this.#settings.clock.clearTimeout(this.#stalled)
    this.#wanted.request.signal.removeEventListener('abort', this.end)
    this.#aborting.abort()
    // Not awaited, and deaf to how it ends: an ability that is stuck comes to its `finally` when it can.
    void this.#chunks.return().catch(() => {})
    this.#wake()
    if (this.#controller !== undefined) closeQuietly(this.#controller, close)
    this.#onEnd()
  }
}

/** A body that its reader has canceled is closed already. */
function closeQuietly(
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
  const place = id === undefined ? '' : `id: ${id}\n`
  const kind = name === undefined ? '' : `event: ${name}\n`
  return `${place}${kind}data: ${JSON.stringify(data) ?? 'null'}\n\n`
}
