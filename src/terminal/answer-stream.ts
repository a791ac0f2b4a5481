// What an agent says and does, out of the items of its task's stream: its text as it comes, once and whole however it arrived, and
// the rest as notes. Announcements are left out: the calls that they tell of are noted themselves.

import type { StreamItem } from '../engine-api.ts'
import { failureSuffix } from '../entities/task.ts'
import { toolText } from './event-fields.ts'
import { cleanLine, cleanText, firstLine } from './terminal-text.ts'

export interface Listener {
  /** A piece of what the agent says; clean. Messages end with a line break. */
  text(piece: string): void
  /** Something about the work: one line, clean. */
  note(line: string): void
}

export class AnswerStream {
  readonly #listener: Listener
  readonly #flow = new TextFlow()
  /** The message that is being said. */
  #current: { id: string; said: string } | undefined
  /** The shown text ends with a line break. */
  #lineEnded = true
  #heard = 0

  /** `showsAll`: what others tell the agent is told too, but for the first, its goal. */
  constructor(listener: Listener, { showsAll = true }: { showsAll?: boolean } = {}) {
    this.#listener = listener
    if (!showsAll) this.#heard = Number.NEGATIVE_INFINITY
  }

  /** Nothing stands on the line yet on which the next text would go. */
  get atLineStart(): boolean {
    return this.#lineEnded
  }

  take(item: StreamItem): void {
    switch (item.type) {
      case 'content':
        if (item.messageId === undefined) this.#say(item.content)
        else this.#piece(item.messageId, item.content)
        return
      case 'message':
        this.#message(item)
        return
      case 'end':
        this.end()
        return
      default: {
        const words = noteOn(item)
        if (words !== undefined) this.note(words)
      }
    }
  }

  /** A line between those of the text. */
  note(line: string): void {
    this.#endLine()
    this.#listener.note(line)
  }

  /** Ends what was said so far with a line break: its message is whole, or nothing more comes. */
  end(): void {
    this.#endLine()
    this.#current = undefined
  }

  #piece(id: string, content: string): void {
    if (this.#current?.id !== id) {
      // A step that broke off is tried again as another message.
      if (this.#current !== undefined) {
        this.end()
        this.#listener.note('(it broke off, and begins again)')
      }
      this.#current = { id, said: '' }
    }
    this.#current.said += content
    this.#say(content)
  }

  #message({ messageId, role, content, announcement }: Extract<StreamItem, { type: 'message' }>): void {
    if (role === 'user') this.#toldBy(content)
    if (announcement || role !== 'assistant') return
    const { id, said } = this.#current ?? { id: '', said: '' }
    if (id === messageId && content.startsWith(said)) this.#say(content.slice(said.length))
    else {
      // Pieces of it were lost to a slow reader.
      this.end()
      this.#say(content)
    }
    this.end()
  }

  /** The first is the goal, which whoever listens gave himself. */
  #toldBy(content: string): void {
    if (this.#heard > 0) this.note(`user: ${firstLine(content)}`)
    this.#heard++
  }

  #say(content: string): void {
    this.#write(this.#flow.take(content))
  }

  #endLine(): void {
    this.#write(this.#flow.end())
    if (!this.#lineEnded) this.#write('\n')
  }

  #write(text: string): void {
    if (text === '') return
    this.#lineEnded = text.endsWith('\n')
    this.#listener.text(text)
  }
}

/** What is no part of the text, in a line; undefined for what need not be said. */
function noteOn(item: StreamItem): string | undefined {
  switch (item.type) {
    case 'tool_call':
      return toolText(item.tool, item.args)
    case 'tool_result':
      return item.error === undefined ? undefined : `${cleanLine(item.tool)} failed: ${firstLine(item.error.message)}`
    case 'question':
      return `asks: ${firstLine(item.question)}`
    case 'progress':
      return item.note === null ? undefined : firstLine(item.note)
    case 'error':
      return `failed${failureSuffix(firstLine(item.error.message))}${item.willRetry ? ' (another attempt follows)' : ''}`
    case 'state':
      return item.status === 'paused' || item.status === 'canceled' ? item.status : undefined
    default:
      return undefined
  }
}

const escapeSign = '\u001b'
const bellSign = '\u0007'
/** A sequence that is longer has no end: it is shown as what is left of it. */
const maxSequenceLength = 64

/**
 * Text that arrives in pieces. A piece may end in the middle of an escape sequence or of a character: its end then waits for the next
 * piece, so that the whole is cleaned as one.
 */
export class TextFlow {
  #held = ''

  /** What can be shown by now. */
  take(piece: string): string {
    const text = this.#held + piece
    const held = endsInside(text)
    this.#held = text.slice(text.length - held)
    return cleanText(text.slice(0, text.length - held))
  }

  /** What is left. */
  end(): string {
    const rest = cleanText(this.#held)
    this.#held = ''
    return rest
  }
}

/** How many characters at the end wait for more: a sequence, half of a character, a line break in two parts. */
function endsInside(text: string): number {
  const begin = text.lastIndexOf(escapeSign)
  const sequence = begin === -1 ? '' : text.slice(begin + 1)
  if (begin !== -1 && sequence.length <= maxSequenceLength && !isWhole(sequence)) return sequence.length + 1
  return /[\ud800-\udbff\r]$/.test(text) ? 1 : 0
}

/** What follows an escape has come to the end of its sequence. */
function isWhole(sequence: string): boolean {
  return /^\[[0-9;?]*[A-Za-z~]/.test(sequence) || sequence.includes(bellSign)
}
