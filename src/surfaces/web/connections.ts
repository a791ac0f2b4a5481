// Limits the open connections of a server, in total and per address. A connection on which no request is being answered is idle: its
// client has sent no request, or only a part of one. When a limit is exceeded, the oldest idle connection of the address with the most
// idle connections is closed, so clients that only hold connections cannot keep others out.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface ConnectionLimits {
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

export class Connections {
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
