// A node:http server for a request listener, with limits on header size, request duration, idle time and connections, so that slow or
// idle clients cannot exhaust it.
import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Clock, systemClock } from '../../core/clock.ts'
import { waitAtMost } from '../../core/signals.ts'
import { Connections } from './connections.ts'
import { hostName, type ListenAddressOptions } from './request-guard.ts'

export {
  type FetchFunction,
  type NodeListenerOptions,
  nodeListener,
  type Peer,
  type ServeFunction,
  toNodeListener,
} from './node-listener.ts'

export interface ServerLimits {
  /** Maximum size of the headers of one request, in bytes. Default 16 KiB. */
  headerBytes?: number | undefined
  /** Time in which the headers must arrive, in milliseconds. Default 10,000. */
  headersTimeoutMs?: number | undefined
  /** Time in which the whole request must arrive, in milliseconds. The response is not limited. Default 30,000. */
  requestTimeoutMs?: number | undefined
  /** How long a connection may be idle between two requests, in milliseconds. Default 5,000. */
  keepAliveMs?: number | undefined
  /** Maximum number of open connections; see connections.ts for what happens beyond it. Default 1,024. */
  connections?: number | undefined
  /** Maximum number of open connections from one address. Default 512. */
  connectionsPerAddress?: number | undefined
  /** How long `close` waits for responses in progress, in milliseconds. Default 2,000. */
  closeGraceMs?: number | undefined
}

export interface ServerAddress {
  host: string
  port: number
  /** Like `http://127.0.0.1:4711`, without a trailing slash. */
  url: string
}

export interface ListenOptions extends ListenAddressOptions {
  /** Creates the request listener once the address is known. */
  listener: (address: ServerAddress) => RequestListener
  /** Creates the handler of upgrade requests. Default: none. */
  onUpgrade?: (address: ServerAddress) => (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  limits?: ServerLimits | undefined
  /** Default: the system clock. */
  clock?: Clock | undefined
}

export interface NodeServer extends ServerAddress {
  /** Accepts no more connections, runs `endWork`, waits for responses in progress, then closes the remaining connections. */
  close(endWork?: () => Promise<unknown>): Promise<void>
}

/** Resolves when the server listens. @throws the system's error for an address that is not available. */
export async function listen(options: ListenOptions): Promise<NodeServer> {
  const { host = '127.0.0.1', port = 0, listener, onUpgrade, limits = {}, clock = systemClock } = options
  // Imported lazily: node:http modifies globals on import.
  const { createServer } = await import('node:http')
  const headersTimeout = limits.headersTimeoutMs ?? 10_000
  const requestTimeout = limits.requestTimeoutMs ?? 30_000
  const server = createServer({
    maxHeaderSize: limits.headerBytes ?? 16 * 1024,
    headersTimeout,
    requestTimeout,
    keepAliveTimeout: limits.keepAliveMs ?? 5_000,
    // Node checks for timed-out connections only at this interval.
    connectionsCheckingInterval: Math.max(100, Math.min(headersTimeout, requestTimeout, 10_000) / 5),
  })
  const connections = new Connections({
    maxOpen: limits.connections ?? 1_024,
    maxPerAddress: limits.connectionsPerAddress ?? 512,
  })
  server.on('connection', (socket) => connections.add(socket))
  server.listen(port, host)
  await once(server, 'listening')
  const bound = (server.address() as AddressInfo).port
  const address: ServerAddress = { host, port: bound, url: `http://${hostName(host)}:${bound}` }
  const answers = new OpenAnswers(clock)
  server.on('request', answers.counted(connections.watched(listener(address))))
  if (onUpgrade !== undefined) {
    const upgrade = onUpgrade(address)
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
  return { ...address, close }
}

/** Tracks responses in progress, so that `close` can wait for them. */
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

  /** Resolves when no response is in progress, or after `graceMs`. */
  async sent(graceMs: number): Promise<void> {
    if (this.#open.size === 0) return
    const none = Promise.withResolvers<void>()
    this.#onNone = none.resolve
    await waitAtMost(this.#clock, graceMs, none.promise)
  }
}
