// The connections of a server: how many there may be, in all and from one address. One on which nothing is being answered (its client
// has not said all of a request, or none) makes way for one more, so clients that only hold connections shut nobody out: where the server
// is full, the address with most of such connections loses its oldest.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface ConnectionLimits {
  most: number
  maxPerAddress: number
}

interface Connection {
  /** Where its client is. */
  from: string
  /** Requests that are being answered on it. */
  busy: number
}

interface Address {
  open: number
  /** Connections on which nothing is being answered, in the order in which that began. */
  idle: Set<Socket>
}

export class Connections {
  readonly #limits: ConnectionLimits
  readonly #open = new Map<Socket, Connection>()
  readonly #addresses = new Map<string, Address>()

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** Takes up a connection; closes an idle one for it, or the new one itself, where there would be too many. */
  add(socket: Socket): void {
    const from = socket.remoteAddress ?? ''
    const address = this.#addresses.get(from) ?? { open: 0, idle: new Set() }
    this.#addresses.set(from, address)
    this.#open.set(socket, { from, busy: 0 })
    address.open += 1
    address.idle.add(socket)
    socket.once('close', () => this.#forget(socket))
    const { most, maxPerAddress } = this.#limits
    if (address.open > maxPerAddress) this.#close(address)
    else if (this.#open.size > most) this.#close(this.#maxIdle())
  }

  /** The listener, during whose answers a connection is not idle. */
  watched(listener: RequestListener): RequestListener {
    return (incoming: IncomingMessage, outgoing: ServerResponse) => {
      const { socket } = incoming
      this.use(socket)
      outgoing.once('close', () => this.#rest(socket))
      listener(incoming, outgoing)
    }
  }

  /** From now on something is being answered on it, or it is used for another protocol. */
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

  #addressOf({ from }: Connection): Address {
    return this.#addresses.get(from) as Address
  }

  #maxIdle(): Address {
    const [first, ...others] = this.#addresses.values()
    return others.reduce((most, each) => (each.idle.size > most.idle.size ? each : most), first as Address)
  }

  /** Its oldest idle connection, perhaps the new one. It counts no more from now on; the system closes it in its own time. */
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
    if (address.open === 0) this.#addresses.delete(connection.from)
    this.#open.delete(socket)
  }
}
