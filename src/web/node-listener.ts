// From node:http to `Request` and `Response` and back, for any server of Node. It takes no more from either side than the other
// side takes from it, and a client that takes nothing does not hold it up.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type Clock, systemClock } from '../core/clock.ts'

/** Who asks, as far as the connection tells. Behind a proxy that is the proxy. */
export interface Peer {
  /** Requests are counted by it where principals have no names. */
  address?: string | undefined
}

/** Frameworks hand over things of their own where a peer may stand. */
export function addressOf(peer: unknown): string | undefined {
  const address = (peer as { address?: unknown } | null | undefined)?.address
  return typeof address === 'string' ? address : undefined
}

export type FetchFunction = (request: Request, peer: Peer) => Response | Promise<Response>

export interface NodeListenerOptions {
  /** A client that has taken nothing of what is there for it for so long, in milliseconds, is cut off. Default 30,000. */
  stallMs?: number | undefined
  /** A client that has been answered and still sends its request is cut off after so long, in milliseconds. Default 1,000. */
  lingerMs?: number | undefined
  /** Default: the system's. */
  clock?: Clock | undefined
}

/**
 * A listener for `http.createServer`, or for any framework over node:http that lets one through. The request's signal aborts when
 * its client is gone. What `fetch` throws is told to `onError`, and answered with 500 as long as nothing has been sent.
 */
export function toNodeListener(
  fetch: FetchFunction,
  onError: (error: unknown) => void,
  options: NodeListenerOptions = {},
): RequestListener {
  return (incoming, outgoing) => {
    answer(fetch, incoming, new Sending(outgoing, options)).catch((error: unknown) => {
      onError(error)
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(500, { 'content-type': 'text/plain' }).end('Internal error.')
    })
  }
}

async function answer(fetch: FetchFunction, incoming: IncomingMessage, sending: Sending): Promise<void> {
  // The one method that a server of Node hands over, and that no `Request` may have.
  const response =
    incoming.method === 'TRACE'
      ? new Response('This method is not taken here.', { status: 501, headers: { 'content-type': 'text/plain' } })
      : await fetch(toRequest(incoming, sending.gone), { address: incoming.socket.remoteAddress })
  await sending.send(response, incoming)
}

/** Who may ask under this host is not judged here; a host that makes no URL is replaced by one that means nothing. */
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

/** Of the form in which proxies ask. */
function pathOf(url: string): string {
  if (!URL.canParse(url)) return '/'
  const { pathname, search } = new URL(url)
  return `${pathname}${search}`
}

/**
 * The body as it is asked for. Whoever wants no more of it does not end the connection, on which the answer is yet to be sent; what
 * still comes is thrown away.
 */
function bytesOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let wanted = true
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        incoming.pause()
        incoming.on('data', (chunk: Buffer) => {
          if (!wanted) return
          controller.enqueue(new Uint8Array(chunk))
          incoming.pause()
        })
        incoming.once('end', () => {
          if (wanted) controller.close()
          wanted = false
        })
        incoming.once('close', () => {
          if (wanted) controller.error(new Error('The client has gone.'))
          wanted = false
        })
      },
      pull() {
        incoming.resume()
      },
      cancel() {
        wanted = false
        incoming.resume()
      },
    },
    { highWaterMark: 0 },
  )
}

/** So much is handed over at once: whoever takes this in time is not stalled, however large the whole. */
const pieceBytes = 64 * 1024

/** What the connection is for, and not what is answered on it: it is kept or ended here. */
const ofTheConnection = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

/** One answer on its way to a client that may be slow, or gone. */
class Sending {
  readonly #outgoing: ServerResponse
  readonly #gone = new AbortController()
  readonly #clock: Clock
  readonly #stallMs: number
  readonly #lingerMs: number

  constructor(outgoing: ServerResponse, options: NodeListenerOptions) {
    this.#outgoing = outgoing
    this.#clock = options.clock ?? systemClock
    this.#stallMs = options.stallMs ?? 30_000
    this.#lingerMs = options.lingerMs ?? 1_000
    outgoing.once('close', () => this.#gone.abort())
    // A client that hangs up is no error.
    outgoing.on('error', () => {})
  }

  get gone(): AbortSignal {
    return this.#gone.signal
  }

  async send(response: Response, incoming: IncomingMessage): Promise<void> {
    if (this.gone.aborted) {
      await response.body?.cancel()
      return
    }
    this.#writeHead(response)
    if (incoming.method === 'HEAD') await response.body?.cancel()
    else if (response.body !== null) await this.#writeBody(response.body)
    if (this.gone.aborted) return
    this.#throwAwayRest(incoming)
    this.#outgoing.end()
    await this.#taken('finish')
  }

  #writeHead({ status, headers }: Response): void {
    const outgoing = this.#outgoing
    for (const [name, value] of headers) {
      if (name !== 'set-cookie' && !ofTheConnection.has(name)) outgoing.setHeader(name, value)
    }
    const cookies = headers.getSetCookie()
    if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies)
    outgoing.writeHead(status)
    outgoing.flushHeaders()
  }

  async #writeBody(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader()
    const onGone = () => void reader.cancel().catch(() => {})
    this.gone.addEventListener('abort', onGone, { once: true })
    try {
      for (let next = await reader.read(); !next.done && !this.gone.aborted; next = await reader.read()) {
        for (const piece of piecesOf(next.value)) await this.#write(piece)
      }
    } catch (error) {
      if (!this.gone.aborted) throw error
    } finally {
      this.gone.removeEventListener('abort', onGone)
    }
  }

  async #write(piece: Uint8Array): Promise<void> {
    if (this.gone.aborted || this.#outgoing.write(piece)) return
    await this.#taken('drain')
  }

  /** Resolves when the client has taken what there was for it, or is gone; one that takes nothing is gone in the end. */
  #taken(sign: 'drain' | 'finish'): Promise<void> {
    return new Promise((resolve) => {
      const outgoing = this.#outgoing
      const stalled = this.#clock.setTimeout(() => outgoing.destroy(), this.#stallMs)
      const done = () => {
        this.#clock.clearTimeout(stalled)
        outgoing.off(sign, done)
        this.gone.removeEventListener('abort', done)
        resolve()
      }
      outgoing.once(sign, done)
      this.gone.addEventListener('abort', done, { once: true })
      if (this.gone.aborted) done()
    })
  }

  /** What nobody has read. Cut off at once, a client that is still busy asking would not hear the answer. */
  #throwAwayRest(incoming: IncomingMessage): void {
    const { socket } = incoming
    incoming.removeAllListeners('data')
    incoming.resume()
    if (incoming.complete) return
    const late = this.#clock.setTimeout(() => socket.destroy(), this.#lingerMs)
    const over = () => this.#clock.clearTimeout(late)
    incoming.once('end', over)
    incoming.once('close', over)
  }
}

function* piecesOf(chunk: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < chunk.byteLength; at += pieceBytes) yield chunk.subarray(at, at + pieceBytes)
}
