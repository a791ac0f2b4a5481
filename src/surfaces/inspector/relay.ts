// The relay forwards messages of the engine and of other programs to receivers. The engine is attached only while there is a receiver. A
// connection is a program's once it sends a message; receivers send none.
import type { InspectionEvent } from '../../actors/inspection-event.ts'
import type { Clock } from '../../core/clock.ts'
import type { WebSocket } from './load-ws.ts'
import type { Redactor } from './redact.ts'
import { readProduced, toWire, type WireActor, type WireMessage } from './wire.ts'

/** Buffer limit of a receiver, in bytes. A receiver that exceeds it is disconnected. */
const maxBuffered = 4 * 1024 * 1024
/** Ping interval. A connection that does not answer before the next ping is disconnected. */
const pingEveryMs = 30_000
const engineName = 'engine'

export interface RelayParts {
  /** Attaches to the engine; undefined if only other programs are relayed. */
  attach: ((send: (event: InspectionEvent) => void) => () => void) | undefined
  redacted: Redactor
  historySize: number
  clock: Clock
}

interface Connection {
  socket: WebSocket
  /** Prefix of the program's actors, once it has sent a message. */
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
    socket.on('message', (data, isBinary) =>
      this.#receive(connection, isBinary ? undefined : (data as Buffer).toString()),
    )
    socket.on('pong', () => {
      connection.isAlive = true
    })
    // A protocol error of the other end closes its connection and needs no further handling.
    socket.on('error', () => socket.terminate())
    socket.on('close', () => this.#leave(connection))
    this.#pinging ??= this.#pingLater()
    this.#sendEvents()
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
      // The engine is closed, and the receiver cannot change that.
      socket.close(1011, 'The engine is closed.')
    }
  }

  /** Called in the middle of a transition, so the message is converted and sent in a later turn. */
  #queue(event: InspectionEvent): void {
    if (this.#events.push(event) === 1) queueMicrotask(() => this.#sendEvents())
  }

  #sendEvents(): void {
    const events = this.#events
    this.#events = []
    const at = Math.floor(this.#parts.clock.now())
    for (const event of events) {
      const message = toWire(event, at)
      if (message !== undefined) this.#send(engineName, message)
    }
  }

  // ── from programs ──

  #receive(connection: Connection, text: string | undefined): void {
    connection.program ??= `program-${++this.#programs}`
    const message = text === undefined ? undefined : readProduced(text, connection.program)
    if (message === undefined) {
      connection.socket.close(1008, 'Not an inspection message.')
      return
    }
    if (this.#receivers.delete(connection)) this.#detachIfAlone()
    this.#send(connection.program, message)
  }

  // ── to receivers ──

  #send(from: string, given: WireMessage): void {
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

  /** Detaches without receivers. The next receiver starts with the state at that time; what happened in between is not recorded. */
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

// What the relay sends to a new receiver: the known actors in their current states, and the last messages. Bounded in count and size, so
// that the greeting stays below the buffer limit of a receiver.

/** Size limit for the actors, and the same for the messages, in characters. */
const maxKept = 1_500_000
const maxActors = 5_000

interface Kept {
  /** The sender: the engine, or a program by its name. */
  from: string
  sessionId: string
  isActor: boolean
  text: string
}

interface KnownActor {
  from: string
  message: WireActor
  size: number
}

class RelayMemory {
  readonly #historySize: number
  readonly #actors = new Map<string, KnownActor>()
  #actorsKept = 0
  #history: Kept[] = []
  #historyKept = 0

  constructor(historySize: number) {
    this.#historySize = historySize
  }

  keep(from: string, message: WireMessage, text: string): void {
    const { sessionId, type } = message
    if (message.type === '@xstate.actor') this.#know(from, message, text.length)
    if (message.type === '@xstate.snapshot') this.#update(from, sessionId, message.snapshot, text.length)
    this.#history.push({ from, sessionId, isActor: type === '@xstate.actor', text })
    this.#historyKept += text.length
    while (this.#history.length > this.#historySize || this.#historyKept > maxKept) {
      this.#historyKept -= this.#history.shift()?.text.length ?? 0
    }
  }

  /** The actors in their current states, then the last messages. */
  greeting(): string[] {
    const actors = [...this.#actors.values()].map(({ message }) => JSON.stringify(message))
    const messages = this.#history.filter(({ isActor, sessionId }) => !(isActor && this.#actors.has(sessionId)))
    return [...actors, ...messages.map(({ text }) => text)]
  }

  /** Removes the actors of a disconnected sender, and with `whole` its messages too. */
  forget(from: string, whole: boolean): void {
    for (const [sessionId, actor] of this.#actors) if (actor.from === from) this.#dismiss(sessionId)
    if (!whole) return
    this.#history = this.#history.filter((entry) => entry.from !== from)
    this.#historyKept = this.#history.reduce((sum, { text }) => sum + text.length, 0)
  }

  #know(from: string, message: WireActor, size: number): void {
    this.#dismiss(message.sessionId)
    this.#actors.set(message.sessionId, { from, message, size })
    this.#actorsKept += size
    while (this.#actors.size > maxActors || this.#actorsKept > maxKept) {
      this.#dismiss(this.#actors.keys().next().value as string)
    }
  }

  #update(from: string, sessionId: string, snapshot: unknown, size: number): void {
    const known = this.#actors.get(sessionId)
    if (known === undefined) return
    const { status } = (snapshot ?? {}) as { status?: unknown }
    if (status !== undefined && status !== 'active') this.#dismiss(sessionId)
    else {
      const { definition } = known.message
      this.#know(from, { ...known.message, snapshot }, size + (definition?.length ?? 0))
    }
  }

  #dismiss(sessionId: string): void {
    this.#actorsKept -= this.#actors.get(sessionId)?.size ?? 0
    this.#actors.delete(sessionId)
  }
}
