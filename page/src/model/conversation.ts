// A task's conversation as it is read: messages in their order, calls where they began, and what is still being said.

import type { Call, Message, StreamItem } from './wire.ts'

export type Line =
  | { kind: 'message'; id: string; message: Message }
  | { kind: 'calls'; id: string; calls: Call[] }
  | { kind: 'live'; id: string; text: string; gap: boolean }

interface Said {
  text: string
  /** A piece is missing, or was too long to keep. */
  gap: boolean
}

const maxLive = 200_000
const ofNoMessage = ''

/** Pieces of messages that are on their way, by message; those without one are the output of a function. */
export class LiveText {
  readonly #texts = new Map<string, Said>()

  get texts(): ReadonlyMap<string, Said> {
    return this.#texts
  }

  /** True when something has changed. A message that is stored replaces its pieces. */
  apply(item: StreamItem): boolean {
    if (item.type === 'message') return this.#texts.delete(item.messageId)
    if (item.type === 'end') return this.#endAll()
    if (item.type !== 'content') return false
    const key = item.messageId ?? ofNoMessage
    this.#texts.set(key, joined(this.#texts.get(key) ?? { text: '', gap: false }, item.content, item.offset))
    return true
  }

  clear(): void {
    this.#texts.clear()
  }

  /** Output of a function stays: no message repeats it. */
  #endAll(): boolean {
    const open = [...this.#texts.keys()].filter((key) => key !== ofNoMessage)
    for (const key of open) this.#texts.delete(key)
    return open.length > 0
  }
}

/** A piece that begins before the end of what is known says it anew; one that begins after it leaves a gap. */
function joined(known: Said, content: string, offset = known.text.length): Said {
  const text = `${known.text.slice(0, offset)}${content}`
  const tooLong = text.length > maxLive
  return { text: tooLong ? text.slice(-maxLive) : text, gap: known.gap || offset > known.text.length || tooLong }
}

/** Neighbouring calls are one block. The engine's own lines about a call are left out: the call itself is shown. */
export function conversationLines(
  messages: readonly Message[],
  calls: readonly Call[],
  live: ReadonlyMap<string, Said>,
): Line[] {
  const begins = new Map(calls.flatMap((call) => (call.startMessageId === null ? [] : [[call.startMessageId, call]])))
  const ends = new Set(calls.map((call) => call.endMessageId))
  const known = new Set(messages.map(({ id }) => id))
  const untold = calls.filter(({ startMessageId }) => startMessageId === null || !known.has(startMessageId))
  const lines = new Lines(untold)
  for (const message of messages) {
    lines.callsBefore(message.timestamp)
    const begun = begins.get(message.id)
    if (begun !== undefined) lines.call(begun)
    else if (!ends.has(message.id)) lines.add({ kind: 'message', id: message.id, message })
  }
  lines.callsBefore(Number.POSITIVE_INFINITY)
  for (const [id, said] of live) if (!known.has(id)) lines.add({ kind: 'live', id: `live-${id}`, ...said })
  return lines.all
}

class Lines {
  readonly all: Line[] = []
  readonly #untold: Call[]

  constructor(untold: readonly Call[]) {
    this.#untold = [...untold].sort((a, b) => a.createdAt - b.createdAt || a.seq - b.seq)
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
    for (let next = this.#untold[0]; next !== undefined && next.createdAt < time; next = this.#untold[0]) {
      this.#untold.shift()
      this.call(next)
    }
  }
}
