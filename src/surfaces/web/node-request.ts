// A request of node:http. The parts of it are made when they are read.
import type { IncomingMessage } from 'node:http'
import { bodyTaken, FetchedRequest, type ServedRequest } from './served-request.ts'

const clientLeft = 'The client closed the connection.'

export class NodeRequest implements ServedRequest {
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
