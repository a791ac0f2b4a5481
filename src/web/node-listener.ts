// Adapts a fetch handler (`Request` to `Response`) to node:http. Bodies are streamed with backpressure in both directions, and a
// client that does not read is disconnected after a time limit.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type Clock, systemClock } from '../core/clock.ts'
import { bodyTaken } from './body.ts'

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
  return (incoming, outgoing) => {
    answer(fetch, incoming, new ResponseWriter(outgoing, options)).catch((error: unknown) => {
      onError(error)
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(500, { 'content-type': 'text/plain' }).end('Internal error.')
    })
  }
}

async function answer(fetch: FetchFunction, incoming: IncomingMessage, writer: ResponseWriter): Promise<void> {
  // node:http accepts TRACE, but the `Request` constructor rejects it.
  const response =
    incoming.method === 'TRACE'
      ? new Response('The method TRACE is not supported.', { status: 501, headers: { 'content-type': 'text/plain' } })
      : await fetch(toRequest(incoming, writer.closed), { address: incoming.socket.remoteAddress })
  await writer.send(response, incoming)
}

/** Does not validate the host. A `Host` that does not form a URL is replaced by `localhost`. */
function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const each of [value ?? []].flat()) headers.append(name, each)
  }
  const method = incoming.method ?? 'GET'
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(urlOf(incoming), {
    method,
    headers,
    signal,
    ...(hasBody ? { body: bytesOf(incoming), duplex: 'half' } : {}),
  } as RequestInit)
}

function urlOf({ headers, url = '/' }: IncomingMessage): string {
  const base = `http://${headers.host ?? ''}`
  const origin = /^http:\/\/[\w.:[\]-]+$/.test(base) && URL.canParse(base) ? base : 'http://localhost'
  const path = url.startsWith('/') ? url : pathOf(url)
  return URL.canParse(`${origin}${path}`) ? `${origin}${path}` : `${origin}/`
}

/** For request targets in absolute form, as sent to proxies. */
function pathOf(url: string): string {
  if (!URL.canParse(url)) return '/'
  const { pathname, search } = new URL(url)
  return `${pathname}${search}`
}

/**
 * The body, read on demand. Canceling the stream does not close the connection, because the response is still to be sent on it; the
 * rest of the body is discarded.
 */
function bytesOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let isWanted = true
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (incoming.readableDidRead) return controller.error(new Error(bodyTaken))
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
          if (isWanted) controller.error(new Error('The client closed the connection.'))
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

/** Size of one write. A client that reads this much within `stallMs` is not stalled, however large the response is. */
const pieceBytes = 64 * 1024

/** Hop-by-hop headers: node:http sets them itself. */
const hopByHopHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

/** Sends one response to a client that may read slowly or disconnect. */
class ResponseWriter {
  readonly #outgoing: ServerResponse
  readonly #closed = new AbortController()
  readonly #clock: Clock
  readonly #stallMs: number
  readonly #lingerMs: number

  constructor(outgoing: ServerResponse, options: NodeListenerOptions) {
    this.#outgoing = outgoing
    this.#clock = options.clock ?? systemClock
    this.#stallMs = options.stallMs ?? 30_000
    this.#lingerMs = options.lingerMs ?? 1_000
    outgoing.once('close', () => this.#closed.abort())
    // A client that disconnects is not an error.
    outgoing.on('error', () => {})
  }

  get closed(): AbortSignal {
    return this.#closed.signal
  }

  async send(response: Response, incoming: IncomingMessage): Promise<void> {
    if (this.closed.aborted) {
      await response.body?.cancel()
      return
    }
    this.#writeHead(response)
    if (incoming.method === 'HEAD') await response.body?.cancel()
    else if (response.body !== null) await this.#writeBody(response.body)
    if (this.closed.aborted) return
    this.#discardRest(incoming)
    this.#outgoing.end()
    await this.#written('finish')
  }

  #writeHead({ status, headers }: Response): void {
    const outgoing = this.#outgoing
    for (const [name, value] of headers) {
      if (name !== 'set-cookie' && !hopByHopHeaders.has(name)) outgoing.setHeader(name, value)
    }
    const cookies = headers.getSetCookie()
    if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies)
    outgoing.writeHead(status)
    outgoing.flushHeaders()
  }

  async #writeBody(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader()
    const onClosed = () => void reader.cancel().catch(() => {})
    this.closed.addEventListener('abort', onClosed, { once: true })
    try {
      for (let next = await reader.read(); !next.done && !this.closed.aborted; next = await reader.read()) {
        for (const piece of piecesOf(next.value)) await this.#write(piece)
      }
    } catch (error) {
      if (!this.closed.aborted) throw error
    } finally {
      this.closed.removeEventListener('abort', onClosed)
    }
  }

  async #write(piece: Uint8Array): Promise<void> {
    if (this.closed.aborted || this.#outgoing.write(piece)) return
    await this.#written('drain')
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
        this.closed.removeEventListener('abort', done)
        resolve()
      }
      outgoing.once(sign, done)
      this.closed.addEventListener('abort', done, { once: true })
      if (this.closed.aborted) done()
    })
  }

  /** Discards the rest of the request. A client that is disconnected while it still sends may not receive the response. */
  #discardRest(incoming: IncomingMessage): void {
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

function* piecesOf(chunk: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < chunk.byteLength; at += pieceBytes) yield chunk.subarray(at, at + pieceBytes)
}
