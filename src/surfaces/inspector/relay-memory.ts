// What the relay sends to a new receiver: the known actors in their current states, and the last messages. Bounded in count and size, so
// that the greeting stays below the buffer limit of a receiver.
import type { WireActor, WireMessage } from './wire.ts'

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

export class RelayMemory {
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
