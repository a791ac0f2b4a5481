// What the tests of the inspector share: a receiver that keeps its messages and can wait for one.
import { createWebSocketReceiver } from '@statelyai/inspect'
import { WebSocket } from 'ws'

/** A message as sent over the wire. */
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
  /** Resolves to the first message that matches. */
  until(fits: (message: Message) => boolean): Promise<Message>
}

class RecordingReceiver implements Receiver {
  readonly messages: Message[] = []
  readonly #waiting = new Set<() => void>()

  receive(message: Message): void {
    this.messages.push(message)
    for (const check of this.#waiting) check()
  }

  until(fits: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve) => {
      const check = (): void => {
        const found = this.messages.find(fits)
        if (found === undefined) return
        this.#waiting.delete(check)
        resolve(found)
      }
      this.#waiting.add(check)
      check()
    })
  }
}

/** Stately's own receiver. */
export function receive(server: string): Receiver {
  const listening = new RecordingReceiver()
  createWebSocketReceiver({ server }).subscribe((message) => listening.receive(message as unknown as Message))
  return listening
}

/** A receiver that can disconnect. */
export function receiveUntilClosed(server: string): Receiver & { socket: WebSocket } {
  const listening = new RecordingReceiver()
  const socket = new WebSocket(server)
  socket.on('message', (data) => listening.receive(JSON.parse((data as Buffer).toString()) as Message))
  return Object.assign(listening, { socket })
}

export const isActor =
  (name: string) =>
  (message: Message): boolean =>
    message.type === '@xstate.actor' && message.name === name

/** The successive states of an actor in its messages; that of its announcement may be later. */
export function statesOf({ messages }: Receiver, { sessionId }: { sessionId: string }): unknown[] {
  const ofActor = messages.filter((message) => message.sessionId === sessionId && message.type === '@xstate.snapshot')
  return ofActor.map(({ snapshot }) => snapshot?.value).filter((value, index, all) => value !== all[index - 1])
}
