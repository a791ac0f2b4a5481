// A server over node:http: it listens where it was told, and keeps clients from holding it up with headers or bodies that never
// end, or with connections that they do not use. What it serves is any function from requests to responses, by way of node-listener.ts.
import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Clock, systemClock } from '../core/clock.ts'
import { waitAtMost } from '../core/signals.ts'
import { Connections } from './connections.ts'
import { hostName, type ListenAddressOptions } from './request-guard.ts'

export { type FetchFunction, type NodeListenerOptions, type Peer, toNodeListener } from './node-listener.ts'

export interface ServerLimits {
  /** Largest headers of one request, in bytes. Default 16 KiB. */
  headerBytes?: number | undefined
  /** Until the headers must be there, in milliseconds. Default 10,000. */
  headersTimeoutMs?: number | undefined
  /** Until the whole request must be there, in milliseconds. What is answered may take as long as it wants. Default 30,000. */
  requestTimeoutMs?: number | undefined
  /** How long a connection may rest between two requests, in milliseconds. Default 5,000. */
  keepAliveMs?: number | undefined
  /** Connections at once; connections.ts says what becomes of one more. Default 1,024. */
  connections?: number | undefined
  /** Connections at once from one address. Default 512. */
  connectionsPerAddress?: number | undefined
  /** How long a closing server waits for answers that are under way, in milliseconds. Default 2,000. */
  closeGraceMs?: number | undefined
}

export interface Place {
  host: string
  port: number
  /** `http://127.0.0.1:4711`, without a slash at its end. */
  url: string
}

export interface ListenOptions extends ListenAddressOptions {
  /** Makes what answers, once it is known where it is reached. */
  listener: (place: Place) => RequestListener
  /** What takes a connection over for another protocol. Default: nothing. */
  onUpgrade?: (place: Place) => (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  limits?: ServerLimits | undefined
  /** Default: the system's. */
  clock?: Clock | undefined
}

export interface NodeServer extends Place {
  /** Takes no more connections, lets `endWork` end what is under way, and then ends the connections. */
  close(endWork?: () => Promise<unknown>): Promise<void>
}

/** Resolves when it listens. @throws what the system says of an address that it does not give. */
export async function listen(options: ListenOptions): Promise<NodeServer> {
  const { host = '127.0.0.1', port = 0, listener, onUpgrade, limits = {}, clock = systemClock } = options
  // Only now: node:http leaves its mark on the globals of whoever merely imports it.
  const { createServer } = await import('node:http')
  const headersTimeout = limits.headersTimeoutMs ?? 10_000
  const requestTimeout = limits.requestTimeoutMs ?? 30_000
  const server = createServer({
    maxHeaderSize: limits.headerBytes ?? 16 * 1024,
    headersTimeout,
    requestTimeout,
    keepAliveTimeout: limits.keepAliveMs ?? 5_000,
    // Node looks for connections whose time is over only so often.
    connectionsCheckingInterval: Math.max(100, Math.min(headersTimeout, requestTimeout, 10_000) / 5),
  })
  const connections = new Connections({
    most: limits.connections ?? 1_024,
    maxPerAddress: limits.connectionsPerAddress ?? 512,
  })
  server.on('connection', (socket) => connections.add(socket))
  server.listen(port, host)
  await once(server, 'listening')
  const bound = (server.address() as AddressInfo).port
  const place: Place = { host, port: bound, url: `http://${hostName(host)}:${bound}` }
  const answers = new OpenAnswers(clock)
  server.on('request', answers.counted(connections.watched(listener(place))))
  if (onUpgrade !== undefined) {
    const upgrade = onUpgrade(place)
    server.on('upgrade', (request, socket, head) => {
      connections.use(request.socket)
      upgrade(request, socket, head)
    })
  }
  const close = async (endWork?: () => Promise<unknown>): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    await endWork?.()
    await answers.sent(limits.closeGraceMs ?? 2_000)
    server.closeAllConnections()
    await closed
  }
  return { ...place, close }
}

/** What is being answered, so that a server that closes cuts off nothing that is nearly told. */
class OpenAnswers {
  readonly #open = new Set<ServerResponse>()
  readonly #clock: Clock
  #onNone: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  counted(listener: RequestListener): RequestListener {
    return (incoming, outgoing) => {
      this.#open.add(outgoing)
      outgoing.once('close', () => {
        this.#open.delete(outgoing)
        if (this.#open.size === 0) this.#onNone()
      })
      listener(incoming, outgoing)
    }
  }

  /** Resolves when nothing is being answered, or after so many milliseconds. */
  async sent(graceMs: number): Promise<void> {
    if (this.#open.size === 0) return
    const none = Promise.withResolvers<void>()
    this.#onNone = none.resolve
    await waitAtMost(this.#clock, graceMs, none.promise)
  }
}
