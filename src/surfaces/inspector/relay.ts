// The relay: receivers hear what the engine and other programs tell, and the engine is attached only while there is one of them. Who
// is what shows by itself: a program sends, a receiver never does.
import type { InspectionEvent } from '../../actors/inspection-event.ts'
import type { Clock } from '../../core/clock.ts'
import type { WebSocket } from './load-ws.ts'
import type { Redactor } from './redact.ts'
import { RelayMemory } from './relay-memory.ts'
import { readProduced, toWire, type WireMessage } from './wire.ts'

/** Bytes that may wait for a receiver: one that does not drain is dropped. */
const maxBuffered = 4 * 1024 * 1024
/** A connection that does not answer by the next ping is dropped. */
const pingEveryMs = 30_000
const engineName = 'engine'

export interface RelayParts {
  /** Attaches to the engine; undefined where only other programs are relayed. */
  attach: ((tell: (event: InspectionEvent) => void) => () => void) | undefined
  redacted: Redactor
  historySize: number
  clock: Clock
}

interface Connection {
  socket: WebSocket
  /** What its actors are named after, once it has sent something. */
  program: string | undefined
  isAlive: boolean
}

export class Relay {
  readonly #parts: RelayParts
  readonly #memory: RelayMemory
  readonly #connections = new Set<Connection>()
  readonly #receivers = new Set<Connection>()
  #events: InspectionEvent[] = []
  #programs = 0
  #detach: (() => void) | undefined
  #pinging: unknown

  constructor(parts: RelayParts) {
    this.#parts = parts
    this.#memory = new RelayMemory(parts.historySize)
  }

  get size(): number {
    return this.#connections.size
  }

  join(socket: WebSocket): void {
    const connection: Connection = { socket, program: undefined, isAlive: true }
    this.#connections.add(connection)
    socket.on('message', (data, isBinary) => this.#hear(connection, isBinary ? undefined : (data as Buffer).toString()))
    socket.on('pong', () => {
      connection.isAlive = true
    })
    // What the other end does wrong closes its connection; that is all there is to say about it.
    socket.on('error', () => socket.terminate())
    socket.on('close', () => this.#leave(connection))
    this.#pinging ??= this.#pingLater()
    this.#tellEvents()
    for (const text of this.#memory.greeting()) socket.send(text)
    this.#receivers.add(connection)
    this.#attachFor(connection)
  }

  close(): void {
    this.#parts.clock.clearTimeout(this.#pinging)
    for (const { socket } of this.#connections) socket.terminate()
    this.#connections.clear()
    this.#receivers.clear()
    this.#detachIfAlone()
  }

  // ── from the engine ──

  #attachFor({ socket }: Connection): void {
    try {
      this.#detach ??= this.#parts.attach?.((event) => this.#queue(event))
    } catch {
      // It is closed, and no receiver can help that.
      socket.close(1011, 'The engine is closed.')
    }
  }

  /** Told in the middle of a transition: what it takes to tell it on is done after that. */
  #queue(event: InspectionEvent): void {
    if (this.#events.push(event) === 1) queueMicrotask(() => this.#tellEvents())
  }

  #tellEvents(): void {
    const events = this.#events
    this.#events = []
    const at = Math.floor(this.#parts.clock.now())
    for (const event of events) {
      const message = toWire(event, at)
      if (message !== undefined) this.#tell(engineName, message)
    }
  }

  // ── from programs ──

  #hear(connection: Connection, text: string | undefined): void {
    connection.program ??= `program-${++this.#programs}`
    const message = text === undefined ? undefined : readProduced(text, connection.program)
    if (message === undefined) {
      connection.socket.close(1008, 'This is no inspection message.')
      return
    }
    if (this.#receivers.delete(connection)) this.#detachIfAlone()
    this.#tell(connection.program, message)
  }

  // ── to receivers ──

  #tell(from: string, given: WireMessage): void {
    const { message, text } = this.#parts.redacted(given)
    this.#memory.keep(from, message, text)
    for (const { socket } of this.#receivers) {
      if (socket.bufferedAmount > maxBuffered) socket.terminate()
      else socket.send(text)
    }
  }

  #leave(connection: Connection): void {
    this.#connections.delete(connection)
    this.#receivers.delete(connection)
    if (connection.program !== undefined) this.#memory.forget(connection.program, false)
    this.#detachIfAlone()
    if (this.#connections.size > 0) return
    this.#parts.clock.clearTimeout(this.#pinging)
    this.#pinging = undefined
  }

  /** What the engine did and was while nobody watched is not known: the next receiver begins with what is there then. */
  #detachIfAlone(): void {
    if (this.#receivers.size > 0) return
    this.#detach?.()
    this.#detach = undefined
    this.#events = []
    this.#memory.forget(engineName, true)
  }

  #pingLater(): unknown {
    return this.#parts.clock.setTimeout(() => {
      for (const connection of this.#connections) {
        if (connection.isAlive) connection.socket.ping()
        else connection.socket.terminate()
        connection.isAlive = false
      }
      this.#pinging = this.#pingLater()
    }, pingEveryMs)
  }
}
