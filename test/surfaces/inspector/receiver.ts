// What the tests of the inspector share: a receiver that keeps its messages and can wait for one.
import { createWebSocketReceiver } from '@statelyai/inspect'
import { WebSocket } from 'ws'

/** A message as it goes over the wire. */
export interface Message {
  type: string
  sessionId: string
  name?: string
  definition?: string
  parentId?: string
  rootId?: string
  sourceId?: string
  event?: { type: string; [key: string]: unknown }
  snapshot?: { status: string; value?: unknown; context?: Record<string, unknown>; [key: string]: unknown }
  [key: string]: unknown
}

export interface Receiver {
  readonly messages: Message[]
  /** The first message that fits, as soon as it is there. */
  until(fits: (message: Message) => boolean): Promise<Message>
}

class Listening implements Receiver {
  readonly messages: Message[] = []
  readonly #waiting = new Set<() => void>()

  hear(message: Message): void {
    this.messages.push(message)
    for (const look of this.#waiting) look()
  }

  until(fits: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.messages.find(fits)
        if (found === undefined) return
        this.#waiting.delete(look)
        resolve(found)
      }
      this.#waiting.add(look)
      look()
    })
  }
}

/** Stately's own receiver. */
export function receive(server: string): Receiver {
  const listening = new Listening()
  createWebSocketReceiver({ server }).subscribe((message) => listening.hear(message as unknown as Message))
  return listening
}

/** A receiver that can hang up. */
export function receiveUntilClosed(server: string): Receiver & { socket: WebSocket } {
  const listening = new Listening()
  const socket = new WebSocket(server)
  socket.on('message', (data) => listening.hear(JSON.parse((data as Buffer).toString()) as Message))
  return Object.assign(listening, { socket })
}

export const isActor =
  (name: string) =>
  (message: Message): boolean =>
    message.type === '@xstate.actor' && message.name === name

/** The states that an actor was told to be in, one after the other. */
export function statesOf({ messages }: Receiver, { sessionId }: { sessionId: string }): unknown[] {
  const told = messages.filter((message) => message.sessionId === sessionId && message.snapshot !== undefined)
  return told.map(({ snapshot }) => snapshot?.value).filter((value, index, all) => value !== all[index - 1])
}
