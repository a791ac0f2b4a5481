// Sends the answers of a handler over node:http. Bodies are streamed with backpressure in both directions, and a client that does not
// read is disconnected after a time limit.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type Clock, systemClock } from '../../core/clock.ts'
import { safeReporter } from '../../core/guarded.ts'
import { type Answer, fromResponse } from './answer.ts'
import { bodyTaken, FetchedRequest, type ServedRequest } from './served-request.ts'

/** The client, as far as the connection identifies it. Behind a proxy this is the proxy. */
export interface Peer {
  /** Rate limits use it for principals without a name. */
  address?: string | undefined
}

/** Frameworks may pass objects of their own in the position of the peer. */
export function addressOf(peer: unknown): string | undefined {
  const address = (peer as { address?: unknown } | null | undefined)?.address
  return typeof address === 'string' ? address : undefined
}

export type FetchFunction = (request: Request, peer: Peer) => Response | Promise<Response>

/** Answers requests without making a `Request` and a `Response` of each. */
export type ServeFunction = (request: ServedRequest, peer: Peer) => Answer | Promise<Answer>

/** The functions that fetch handlers of ours are made of. */
const serveFunctions = new WeakMap<FetchFunction, ServeFunction>()

/** Makes `toNodeListener` use `serve` in place of `fetch`, which answers the same. */
export function isServedBy(fetch: FetchFunction, serve: ServeFunction): void {
  serveFunctions.set(fetch, serve)
}

export interface NodeListenerOptions {
  /** Disconnects a client that has not read any pending output for this many milliseconds. Default 30,000. */
  stallMs?: number | undefined
  /** Disconnects a client that is still sending its request this many milliseconds after the response. Default 1,000. */
  lingerMs?: number | undefined
  /** Default: the system clock. */
  clock?: Clock | undefined
}

/**
 * Returns a listener for `http.createServer`, or for any framework over node:http that accepts one. The request's signal aborts when the
 * client disconnects. An error that `fetch` throws is passed to `onError` and, if no headers have been sent, answered with 500.
 */
export function toNodeListener(
  fetch: FetchFunction,
  onError: (error: unknown) => void,
  options: NodeListenerOptions = {},
): RequestListener {
  return nodeListener(serveFunctions.get(fetch) ?? served(fetch), onError, options)
}

function served(fetch: FetchFunction): ServeFunction {
  return async (request, peer) => fromResponse(await fetch(request.toRequest(), peer))
}

/** The same for a function that needs no `Request`. */
export function nodeListener(
  serve: ServeFunction,
  onError: (error: unknown) => void,
  options: NodeListenerOptions = {},
): RequestListener {
  const report = safeReporter(onError)
  return (incoming, outgoing) => {
    answer(serve, incoming, new AnswerWriter(outgoing, options)).catch((error: unknown) => {
      report(error)
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(500, { 'content-type': 'text/plain' }).end('Internal error.')
    })
  }
}

async function answer(serve: ServeFunction, incoming: IncomingMessage, writer: AnswerWriter): Promise<void> {
  // node:http accepts TRACE, but the `Request` constructor rejects it.
  const given: Answer =
    incoming.method === 'TRACE'
      ? { status: 501, headers: { 'content-type': 'text/plain' }, body: 'The method TRACE is not supported.' }
      : await serve(new NodeRequest(incoming, writer.signal), { address: incoming.socket.remoteAddress })
  try {
    await writer.send(given, incoming)
  } finally {
    given.onSent?.()
  }
}

/** Size of one write. A client that reads this much within `stallMs` is not stalled, however large the response is. */
const pieceBytes = 64 * 1024

/** Sends one answer to a client that may read slowly or disconnect. */
class AnswerWriter {
  readonly #outgoing: ServerResponse
  readonly #clock: Clock
  readonly #stallMs: number
  readonly #lingerMs: number
  #leaving: AbortController | undefined

  constructor(outgoing: ServerResponse, options: NodeListenerOptions) {
    this.#outgoing = outgoing
    this.#clock = options.clock ?? systemClock
    this.#stallMs = options.stallMs ?? 30_000
    this.#lingerMs = options.lingerMs ?? 1_000
    // A client that disconnects is not an error.
    outgoing.on('error', () => {})
  }

  /** Aborts when the client disconnects before it has the whole answer. */
  readonly signal = (): AbortSignal => {
    this.#leaving ??= this.#awaitLeaving()
    return this.#leaving.signal
  }

  #awaitLeaving(): AbortController {
    const outgoing = this.#outgoing
    const leaving = new AbortController()
    const abort = (): void => {
      if (!outgoing.writableFinished) leaving.abort()
    }
    if (outgoing.closed) abort()
    else outgoing.once('close', abort)
    return leaving
  }

  async send(answer: Answer, incoming: IncomingMessage): Promise<void> {
    const outgoing = this.#outgoing
    const { body } = answer
    if (outgoing.closed) {
      if (body instanceof ReadableStream) await body.cancel()
      return
    }
    if (body instanceof ReadableStream) await this.#stream(answer, body, incoming)
    else await this.#sendWhole(answer, body ?? '', incoming)
    if (outgoing.writableLength > 0 && !outgoing.closed) await this.#written('finish')
  }

  /** In one piece with the head if the body is no larger than a piece. */
  async #sendWhole({ status, headers }: Answer, body: string | Uint8Array, incoming: IncomingMessage): Promise<void> {
    const outgoing = this.#outgoing
    const isEmpty = incoming.method === 'HEAD' || status === 204 || status === 304
    const size = Buffer.byteLength(body)
    outgoing.writeHead(status, isEmpty ? headers : { ...headers, 'content-length': size })
    if (!isEmpty && size > pieceBytes) await this.#writePieces(typeof body === 'string' ? Buffer.from(body) : body)
    if (outgoing.closed) return
    this.#discardRest(incoming)
    outgoing.end(isEmpty || size > pieceBytes ? undefined : body)
  }

  async #stream(
    { status, headers }: Answer,
    body: ReadableStream<Uint8Array>,
    incoming: IncomingMessage,
  ): Promise<void> {
    const outgoing = this.#outgoing
    outgoing.writeHead(status, headers)
    outgoing.flushHeaders()
    if (incoming.method === 'HEAD') await body.cancel()
    else await this.#writeStream(body)
    if (outgoing.closed) return
    this.#discardRest(incoming)
    outgoing.end()
  }

  async #writeStream(body: ReadableStream<Uint8Array>): Promise<void> {
    const outgoing = this.#outgoing
    const reader = body.getReader()
    const onClose = () => void reader.cancel().catch(() => {})
    outgoing.once('close', onClose)
    try {
      for (let next = await reader.read(); !next.done && !outgoing.closed; next = await reader.read()) {
        await this.#writePieces(next.value)
      }
    } catch (error) {
      if (!outgoing.closed) throw error
    } finally {
      outgoing.off('close', onClose)
    }
  }

  async #writePieces(bytes: Uint8Array): Promise<void> {
    const outgoing = this.#outgoing
    for (let at = 0; at < bytes.byteLength && !outgoing.closed; at += pieceBytes) {
      if (!outgoing.write(bytes.subarray(at, at + pieceBytes))) await this.#written('drain')
    }
  }

  /**
   * Resolves when the client has read the pending output or the connection is closed. A client that reads nothing for `stallMs` is
   * disconnected.
   */
  #written(sign: 'drain' | 'finish'): Promise<void> {
    return new Promise((resolve) => {
      const outgoing = this.#outgoing
      const stalled = this.#clock.setTimeout(() => outgoing.destroy(), this.#stallMs)
      const done = () => {
        this.#clock.clearTimeout(stalled)
        outgoing.off(sign, done)
        outgoing.off('close', done)
        resolve()
      }
      outgoing.once(sign, done)
      outgoing.once('close', done)
      if (outgoing.closed) done()
    })
  }

  /** Discards the rest of the request. A client that is disconnected while it still sends may not receive the answer. */
  #discardRest(incoming: IncomingMessage): void {
    // Node itself discards a body that has not been read at all.
    if (incoming.readableEnded || (incoming.complete && !incoming.readableDidRead)) return
    const { socket } = incoming
    incoming.removeAllListeners('data')
    incoming.resume()
    if (incoming.complete) return
    const timer = this.#clock.setTimeout(() => socket.destroy(), this.#lingerMs)
    const stop = () => this.#clock.clearTimeout(timer)
    incoming.once('end', stop)
    incoming.once('close', stop)
  }
}

// A request of node:http. The parts of it are made when they are read.

const clientLeft = 'The client closed the connection.'

class NodeRequest implements ServedRequest {
  readonly #incoming: IncomingMessage
  readonly #signal: () => AbortSignal
  readonly headers: Pick<Headers, 'get' | 'has'>
  #url: URL | undefined
  /** Made for a function of the program, which may read the body. */
  #request: Request | undefined

  /** @param signal makes the signal that aborts when the client disconnects. */
  constructor(incoming: IncomingMessage, signal: () => AbortSignal) {
    this.#incoming = incoming
    this.#signal = signal
    const { headers } = incoming
    this.headers = {
      get: (name) => headerText(headers[name]),
      has: (name) => headers[name] !== undefined,
    }
  }

  get method(): string {
    return this.#incoming.method ?? 'GET'
  }

  /** Does not validate the host. A `Host` that does not form a URL is replaced by `localhost`. */
  get url(): URL {
    this.#url ??= urlOf(this.#incoming)
    return this.#url
  }

  get signal(): AbortSignal {
    return this.#signal()
  }

  get hasBody(): boolean {
    return this.method !== 'GET' && this.method !== 'HEAD'
  }

  async bytes(limitBytes: number): Promise<Uint8Array | undefined> {
    if (this.#request !== undefined) return new FetchedRequest(this.#request).bytes(limitBytes)
    return this.hasBody ? readAll(this.#incoming, limitBytes) : new Uint8Array()
  }

  toRequest(): Request {
    this.#request ??= this.#makeRequest()
    return this.#request
  }

  #makeRequest(): Request {
    const headers = new Headers()
    for (const [name, value] of Object.entries(this.#incoming.headers)) {
      for (const each of [value ?? []].flat()) headers.append(name, each)
    }
    return new Request(this.url, {
      method: this.method,
      headers,
      signal: this.signal,
      ...(this.hasBody ? { body: streamOf(this.#incoming), duplex: 'half' } : {}),
    } as RequestInit)
  }
}

function headerText(value: string | string[] | undefined): string | null {
  return typeof value === 'string' ? value : (value?.join(', ') ?? null)
}

function urlOf({ headers, url = '/' }: IncomingMessage): URL {
  const base = `http://${headers.host ?? ''}`
  const origin = /^http:\/\/[\w.:[\]-]+$/.test(base) && URL.canParse(base) ? base : 'http://localhost'
  const path = url.startsWith('/') ? url : pathOf(url)
  return URL.parse(`${origin}${path}`) ?? new URL(`${origin}/`)
}

/** For request targets in absolute form, as sent to proxies. */
function pathOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed === null ? '/' : `${parsed.pathname}${parsed.search}`
}

/** The rest of a body that is too long is discarded by the listener. */
function readAll(incoming: IncomingMessage, limitBytes: number): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    if (incoming.readableDidRead || incoming.destroyed) {
      reject(new Error(incoming.readableDidRead ? bodyTaken : clientLeft))
      return
    }
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer): void => {
      size += chunk.byteLength
      chunks.push(chunk)
      if (size <= limitBytes) return
      incoming.off('data', take)
      incoming.pause()
      resolve(undefined)
    }
    incoming.on('data', take)
    incoming.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
    incoming.once('close', () => reject(new Error(clientLeft)))
  })
}

/**
 * The body, read on demand. Canceling the stream does not close the connection, because the response is still to be sent on it; the
 * rest of the body is discarded.
 */
function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let isWanted = true
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (incoming.readableDidRead) return controller.error(new Error(bodyTaken))
        if (incoming.destroyed) return controller.error(new Error(clientLeft))
        incoming.pause()
        incoming.on('data', (chunk: Buffer) => {
          if (!isWanted) return
          controller.enqueue(new Uint8Array(chunk))
          incoming.pause()
        })
        incoming.once('end', () => {
          if (isWanted) controller.close()
          isWanted = false
        })
        incoming.once('close', () => {
          if (isWanted) controller.error(new Error(clientLeft))
          isWanted = false
        })
      },
      pull() {
        incoming.resume()
      },
      cancel() {
        isWanted = false
        incoming.resume()
      },
    },
    { highWaterMark: 0 },
  )
}
