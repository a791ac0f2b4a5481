// Server-sent events over fetch, because EventSource sends no token. It goes on where it was: with the last id after a break, after
// growing rests while the server is away, and it breaks off by itself when not even a sign of life comes any more.

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
  /** Opens the stream; `lastId` is what was heard last. Rejects with ApiError for a refusal. */
  open(lastId: string | null, signal: AbortSignal): Promise<Response>
  onEvent(event: SourceEvent): void
  onConnection?(connection: Connection): void
  /** A refusal after which there is nothing to wait for; the source has ended. */
  onRefused(problem: Problem): void
  /** The server has said all there is. */
  onEnd?(): void
  /** What was heard last before this source began. */
  lastId?: string | null
  beat: SourceBeat
}

export interface SourceBeat {
  later(callback: () => void, ms: number): unknown
  forget(timer: unknown): void
  /** 0 to 1. */
  chance(): number
}

const firstRestMs = 300
const maxRestMs = 10_000
/** So many events in one piece are a storm. Whoever lets them gather for a moment takes them in fewer, larger pieces. */
const stormEvents = 50
const gatherMs = 100
/** And a large piece is followed by a longer rest: a page that takes more than this would keep the engine's machine busy by itself. */
const restPerEventMs = 0.3
/** Three signs of life of the server, and they are late. */
const silenceMs = 50_000

/** Follows until `close`, a refusal, or the end. Returns how to close it. */
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

  /** One connection, from opening to its end. True when there is nothing more to hear. */
  async #once(): Promise<boolean> {
    const attempt = new AbortController()
    const abort = () => attempt.abort()
    this.#closed.signal.addEventListener('abort', abort)
    const watch = new SilenceWatch(this.#options.beat, abort)
    try {
      watch.hear()
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
    const heard: SourceEvent[] = []
    const parser = createParser({
      onEvent: ({ id, event, data }) => heard.push({ id: id ?? null, event: event ?? 'message', data }),
    })
    for await (const bytes of chunksOf(body)) {
      watch.hear()
      this.#restMs = firstRestMs
      parser.feed(decoder.decode(bytes, { stream: true }))
      const told = heard.splice(0)
      for (const event of told) {
        if (this.#closed.signal.aborted) return true
        if (event.event === 'end' && event.id === null) return this.#end()
        if (event.event === 'error' && event.id === null && isProblem(event.data)) {
          return this.#broken(new ApiError(JSON.parse(event.data) as Problem))
        }
        // First told, then remembered: whoever cannot take an event hears it again.
        this.#options.onEvent(event)
        if (event.id !== null) this.#lastId = event.id
      }
      if (told.length >= stormEvents) await this.#pause(Math.max(gatherMs, told.length * restPerEventMs))
    }
    return false
  }

  #end(): boolean {
    this.#options.onEnd?.()
    return true
  }

  /** A server that is away, restarting or overrun may come back; one that says no means it. */
  #broken(error: unknown): boolean {
    if (this.#closed.signal.aborted) return true
    const { status, code } = problemOf(error)
    const mayPass = status === 0 || status >= 500 || status === 429 || status === 408 || code === 'ENGINE_CLOSED'
    if (mayPass) return false
    this.#options.onRefused(problemOf(error))
    return true
  }

  #rest(): Promise<void> {
    const ms = this.#restMs * (0.5 + this.#options.beat.chance() / 2)
    this.#restMs = Math.min(this.#restMs * 2, maxRestMs)
    return this.#pause(ms)
  }

  /** Ends early when it is closed. */
  #pause(ms: number): Promise<void> {
    const { beat } = this.#options
    const { signal } = this.#closed
    return new Promise((resolve) => {
      const over = () => {
        beat.forget(timer)
        signal.removeEventListener('abort', over)
        resolve()
      }
      const timer = beat.later(over, ms)
      signal.addEventListener('abort', over)
    })
  }
}

/** Breaks a connection off over which nothing has come for too long: a cable that was pulled says nothing. */
class SilenceWatch {
  readonly #beat: SourceBeat
  readonly #onSilence: () => void
  #timer: unknown

  constructor(beat: SourceBeat, onSilence: () => void) {
    this.#beat = beat
    this.#onSilence = onSilence
  }

  hear(): void {
    this.stop()
    this.#timer = this.#beat.later(this.#onSilence, silenceMs)
  }

  stop(): void {
    if (this.#timer !== undefined) this.#beat.forget(this.#timer)
    this.#timer = undefined
  }
}

/** Not every browser can go through a stream with `for await`. */
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
    const told: unknown = JSON.parse(data)
    return typeof told === 'object' && told !== null && 'code' in told && 'status' in told
  } catch {
    return false
  }
}
