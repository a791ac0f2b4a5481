// Server-sent events over fetch, because EventSource cannot send a token. Reconnects with the last id and a growing delay, and closes a
// connection on which not even heartbeats arrive.

import { createParser } from 'eventsource-parser'
import type { Problem } from '../model/wire.ts'
import { ApiError, problemOf } from './api-client.ts'

export interface SourceEvent {
  id: string | null
  event: string
  data: string
}

export type Connection = 'connecting' | 'open' | 'broken'

export interface SourceOptions {
  /** Opens the stream after the event `lastId`. Rejects with ApiError for a refusal. */
  open(lastId: string | null, signal: AbortSignal): Promise<Response>
  onEvent(event: SourceEvent): void
  onConnection?(connection: Connection): void
  /** A permanent refusal; the source has ended. */
  onRefused(problem: Problem): void
  /** The stream has ended regularly. */
  onEnd?(): void
  /** The last event received before this source was created. */
  lastId?: string | null
  clock: SourceTimers
}

/** What a source needs of time: timers, and randomness for its delays. */
export interface SourceTimers {
  later(callback: () => void, ms: number): unknown
  cancel(timer: unknown): void
  /** A random number from 0 to 1. */
  random(): number
}

const firstRestMs = 300
const maxRestMs = 10_000
/** A chunk with this many events is a burst. Pausing between reads collects events into fewer, larger chunks. */
const burstEvents = 50
const gatherMs = 100
/** Larger chunks are followed by longer pauses, so that the page does not saturate the engine's machine. */
const restPerEventMs = 0.3
/** Three missed heartbeats of the server, plus some delay. */
const silenceMs = 50_000

/** Follows until it is closed, refused or ended. Returns a function that closes it. */
export function followSource(options: SourceOptions): () => void {
  const source = new Source(options)
  void source.run()
  return () => source.close()
}

class Source {
  readonly #options: SourceOptions
  readonly #closed = new AbortController()
  #lastId: string | null
  #restMs = firstRestMs

  constructor(options: SourceOptions) {
    this.#options = options
    this.#lastId = options.lastId ?? null
  }

  close(): void {
    this.#closed.abort()
  }

  async run(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      this.#options.onConnection?.('connecting')
      const over = await this.#once()
      if (over || this.#closed.signal.aborted) return
      this.#options.onConnection?.('broken')
      await this.#rest()
    }
  }

  /** One connection from start to end. Resolves to true if the stream is complete. */
  async #once(): Promise<boolean> {
    const attempt = new AbortController()
    const abort = () => attempt.abort()
    this.#closed.signal.addEventListener('abort', abort)
    const watch = new SilenceWatch(this.#options.clock, abort)
    try {
      watch.reset()
      const response = await this.#options.open(this.#lastId, attempt.signal)
      if (response.status === 204 || response.body === null) return this.#end()
      this.#options.onConnection?.('open')
      return await this.#read(response.body, watch)
    } catch (error) {
      return this.#broken(error)
    } finally {
      watch.stop()
      attempt.abort()
      this.#closed.signal.removeEventListener('abort', abort)
    }
  }

  async #read(body: ReadableStream<Uint8Array>, watch: SilenceWatch): Promise<boolean> {
    const decoder = new TextDecoder()
    const received: SourceEvent[] = []
    const parser = createParser({
      onEvent: ({ id, event, data }) => received.push({ id: id ?? null, event: event ?? 'message', data }),
    })
    for await (const bytes of chunksOf(body)) {
      watch.reset()
      this.#restMs = firstRestMs
      parser.feed(decoder.decode(bytes, { stream: true }))
      const batch = received.splice(0)
      for (const event of batch) {
        if (this.#closed.signal.aborted) return true
        if (event.event === 'end' && event.id === null) return this.#end()
        if (event.event === 'error' && event.id === null && isProblem(event.data)) {
          return this.#broken(new ApiError(JSON.parse(event.data) as Problem))
        }
        // The id is stored after the callback, so that an event whose handling failed is received again.
        this.#options.onEvent(event)
        if (event.id !== null) this.#lastId = event.id
      }
      if (batch.length >= burstEvents) await this.#pause(Math.max(gatherMs, batch.length * restPerEventMs))
    }
    return false
  }

  #end(): boolean {
    this.#options.onEnd?.()
    return true
  }

  /** Returns whether to reconnect: a server that is down, restarting or overloaded may recover, but a refusal is permanent. */
  #broken(error: unknown): boolean {
    if (this.#closed.signal.aborted) return true
    const { status, code } = problemOf(error)
    const mayPass = status === 0 || status >= 500 || status === 429 || status === 408 || code === 'ENGINE_CLOSED'
    if (mayPass) return false
    this.#options.onRefused(problemOf(error))
    return true
  }

  #rest(): Promise<void> {
    const ms = this.#restMs * (0.5 + this.#options.clock.random() / 2)
    this.#restMs = Math.min(this.#restMs * 2, maxRestMs)
    return this.#pause(ms)
  }

  /** Resolves early when the source is closed. */
  #pause(ms: number): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#closed
    return new Promise((resolve) => {
      const over = () => {
        clock.cancel(timer)
        signal.removeEventListener('abort', over)
        resolve()
      }
      const timer = clock.later(over, ms)
      signal.addEventListener('abort', over)
    })
  }
}

/** Aborts a connection on which nothing has arrived for too long, as after a network failure. */
class SilenceWatch {
  readonly #clock: SourceTimers
  readonly #onSilence: () => void
  #timer: unknown

  constructor(clock: SourceTimers, onSilence: () => void) {
    this.#clock = clock
    this.#onSilence = onSilence
  }

  reset(): void {
    this.stop()
    this.#timer = this.#clock.later(this.#onSilence, silenceMs)
  }

  stop(): void {
    if (this.#timer !== undefined) this.#clock.cancel(this.#timer)
    this.#timer = undefined
  }
}

/** Not every browser supports `for await` on streams. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const reader = body.getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
  } finally {
    reader.releaseLock()
  }
}

function isProblem(data: string): boolean {
  try {
    const body: unknown = JSON.parse(data)
    return typeof body === 'object' && body !== null && 'code' in body && 'status' in body
  } catch {
    return false
  }
}
