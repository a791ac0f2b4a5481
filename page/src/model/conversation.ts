// The lines of a task's conversation: messages in order, calls where they started, and unfinished messages.

import type { Call, Message, StreamItem } from './wire.ts'

export type Line =
  | { kind: 'message'; id: string; message: Message }
  | { kind: 'calls'; id: string; calls: Call[] }
  | { kind: 'live'; id: string; text: string; gap: boolean }

interface LiveMessage {
  text: string
  /** True if a chunk is missing or was too long to keep. */
  gap: boolean
}

const maxLive = 200_000

/** The chunks of unfinished messages, by message. */
export class LiveText {
  readonly #texts = new Map<string, LiveMessage>()

  get texts(): ReadonlyMap<string, LiveMessage> {
    return this.#texts
  }

  /** Returns whether something changed. A stored message replaces its chunks. */
  apply(item: StreamItem): boolean {
    if (item.type === 'message') return this.#texts.delete(item.messageId)
    if (item.type === 'end') return this.#endAll()
    if (item.type !== 'content' || item.messageId === undefined) return false
    const known = this.#texts.get(item.messageId) ?? { text: '', gap: false }
    this.#texts.set(item.messageId, joined(known, item.content, item.offset))
    return true
  }

  #endAll(): boolean {
    const { size } = this.#texts
    this.#texts.clear()
    return size > 0
  }
}

/** A chunk that starts before the end of the known text replaces the rest; one that starts after it leaves a gap. */
function joined(known: LiveMessage, content: string, offset = known.text.length): LiveMessage {
  const text = `${known.text.slice(0, offset)}${content}`
  const tooLong = text.length > maxLive
  return { text: tooLong ? text.slice(-maxLive) : text, gap: known.gap || offset > known.text.length || tooLong }
}

/** Adjacent calls form one block. The engine's own messages about a call are omitted, since the call itself is shown. */
export function conversationLines(
  messages: readonly Message[],
  calls: readonly Call[],
  live: ReadonlyMap<string, LiveMessage>,
): Line[] {
  const begins = new Map(calls.flatMap((call) => (call.startMessageId === null ? [] : [[call.startMessageId, call]])))
  const ends = new Set(calls.map((call) => call.endMessageId))
  const known = new Set(messages.map(({ id }) => id))
  const withoutMessage = calls.filter(({ startMessageId }) => startMessageId === null || !known.has(startMessageId))
  const lines = new Lines(withoutMessage)
  for (const message of messages) {
    lines.callsBefore(message.timestamp)
    const begun = begins.get(message.id)
    if (begun !== undefined) lines.call(begun)
    else if (!ends.has(message.id)) lines.add({ kind: 'message', id: message.id, message })
  }
  lines.callsBefore(Number.POSITIVE_INFINITY)
  for (const [id, message] of live) if (!known.has(id)) lines.add({ kind: 'live', id: `live-${id}`, ...message })
  return lines.all
}

class Lines {
  readonly all: Line[] = []
  /** Calls whose start no message records; placed by their time. */
  readonly #withoutMessage: Call[]

  constructor(withoutMessage: readonly Call[]) {
    this.#withoutMessage = [...withoutMessage].sort((a, b) => a.createdAt - b.createdAt || a.seq - b.seq)
  }

  add(line: Line): void {
    this.all.push(line)
  }

  call(call: Call): void {
    const last = this.all.at(-1)
    if (last?.kind === 'calls') last.calls.push(call)
    else this.all.push({ kind: 'calls', id: `calls-${call.id}`, calls: [call] })
  }

  callsBefore(time: number): void {
    for (
      let next = this.#withoutMessage[0];
      next !== undefined && next.createdAt < time;
      next = this.#withoutMessage[0]
    ) {
      this.#withoutMessage.shift()
      this.call(next)
    }
  }
}
