// A node:http server for a request listener, with limits on header size, request duration, idle time and connections, so that slow or
// idle clients cannot exhaust it.
import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Clock, systemClock } from '../../core/clock.ts'
import { waitAtMost } from '../../core/signals.ts'
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

// Limits the open connections of a server, in total and per address. A connection on which no request is being answered is idle: its
// client has sent no request, or only a part of one. When a limit is exceeded, the oldest idle connection of the address with the most
// idle connections is closed, so clients that only hold connections cannot keep others out.

interface ConnectionLimits {
  maxOpen: number
  maxPerAddress: number
}

interface Connection {
  /** Remote address of the client. */
  address: string
  /** Number of requests that are being answered on it. */
  busy: number
}

interface Address {
  open: number
  /** Idle connections, in the order in which they became idle. */
  idle: Set<Socket>
}

class Connections {
  readonly #limits: ConnectionLimits
  readonly #open = new Map<Socket, Connection>()
  readonly #addresses = new Map<string, Address>()

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** Registers a connection. Closes an idle one (possibly this one) if a limit is exceeded. */
  add(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    const connections = this.#addresses.get(address) ?? { open: 0, idle: new Set() }
    this.#addresses.set(address, connections)
    this.#open.set(socket, { address, busy: 0 })
    connections.open += 1
    connections.idle.add(socket)
    socket.once('close', () => this.#forget(socket))
    const { maxOpen, maxPerAddress } = this.#limits
    if (connections.open > maxPerAddress) this.#close(connections)
    else if (this.#open.size > maxOpen) this.#close(this.#maxIdle())
  }

  /** Wraps a listener so that a connection counts as busy while a request on it is being answered. */
  watched(listener: RequestListener): RequestListener {
    return (incoming: IncomingMessage, outgoing: ServerResponse) => {
      const { socket } = incoming
      this.use(socket)
      outgoing.once('close', () => this.#rest(socket))
      listener(incoming, outgoing)
    }
  }

  /** Marks the connection as busy: a request is being answered on it, or it was upgraded to another protocol. */
  use(socket: Socket): void {
    const connection = this.#open.get(socket)
    if (connection === undefined) return
    connection.busy += 1
    this.#addressOf(connection).idle.delete(socket)
  }

  #rest(socket: Socket): void {
    const connection = this.#open.get(socket)
    if (connection === undefined) return
    connection.busy -= 1
    if (connection.busy === 0) this.#addressOf(connection).idle.add(socket)
  }

  #addressOf({ address }: Connection): Address {
    return this.#addresses.get(address) as Address
  }

  #maxIdle(): Address {
    const [first, ...others] = this.#addresses.values()
    return others.reduce((max, each) => (each.idle.size > max.idle.size ? each : max), first as Address)
  }

  /** Closes the oldest idle connection, possibly the new one. It stops counting at once; the system closes the socket later. */
  #close({ idle }: Address): void {
    const [oldest] = idle
    if (oldest === undefined) return
    this.#forget(oldest)
    oldest.destroy()
  }

  #forget(socket: Socket): void {
    const connection = this.#open.get(socket)
    if (connection === undefined) return
    const address = this.#addressOf(connection)
    address.idle.delete(socket)
    address.open -= 1
    if (address.open === 0) this.#addresses.delete(connection.address)
    this.#open.delete(socket)
  }
}
