// Turns the items of a task's stream into the text of its agent and notes. Text is passed on as it arrives, each message once and whole,
// whether it came in pieces or not. Announcements are left out, because the calls that they announce are noted.

import type { StreamItem } from '../../engine/engine-api.ts'
import { stateText } from '../../entities/machine-view.ts'
import { failureSuffix } from '../../entities/task.ts'
import { toolText } from './event-fields.ts'
import { cleanLine, cleanText, firstLine } from './terminal-text.ts'

export interface Listener {
  /** A piece of the agent's text; clean. Messages end with a line break. */
  text(piece: string): void
  /** A note about the work: one line, clean. */
  note(line: string): void
}

export class AnswerStream {
  readonly #listener: Listener
  readonly #flow = new TextFlow()
  /** The message that is arriving. */
  #current: { id: string; shown: string } | undefined
  /** The shown text ends with a line break. */
  #lineEnded = true
  #userMessages = 0

  /** `showsAll`: user messages are noted too, except the first, which is the goal. */
  constructor(listener: Listener, { showsAll = true }: { showsAll?: boolean } = {}) {
    this.#listener = listener
    if (!showsAll) this.#userMessages = Number.NEGATIVE_INFINITY
  }

  /** Whether the next text begins a line. */
  get atLineStart(): boolean {
    return this.#lineEnded
  }

  take(item: StreamItem): void {
    switch (item.type) {
      case 'content':
        if (item.messageId === undefined) this.#text(item.content)
        else this.#piece(item.messageId, item.content)
        return
      case 'message':
        this.#message(item)
        return
      case 'end':
        this.end()
        return
      default: {
        const text = noteOn(item)
        if (text !== undefined) this.note(text)
      }
    }
  }

  /** A line between those of the text. */
  note(line: string): void {
    this.#endLine()
    this.#listener.note(line)
  }

  /** Ends the current message with a line break. */
  end(): void {
    this.#endLine()
    this.#current = undefined
  }

  #piece(id: string, content: string): void {
    if (this.#current?.id !== id) {
      // A failed step is repeated as another message.
      if (this.#current !== undefined) {
        this.end()
        this.#listener.note('(interrupted; starting again)')
      }
      this.#current = { id, shown: '' }
    }
    this.#current.shown += content
    this.#text(content)
  }

  #message({ messageId, role, content, announcement }: Extract<StreamItem, { type: 'message' }>): void {
    if (role === 'user') this.#userMessage(content)
    if (announcement || role !== 'assistant') return
    const { id, shown } = this.#current ?? { id: '', shown: '' }
    if (id === messageId && content.startsWith(shown)) this.#text(content.slice(shown.length))
    else {
      // A slow reader has missed pieces of the message.
      this.end()
      this.#text(content)
    }
    this.end()
  }

  /** The first is the goal, which the user has just given. */
  #userMessage(content: string): void {
    if (this.#userMessages > 0) this.note(`user: ${firstLine(content)}`)
    this.#userMessages++
  }

  #text(content: string): void {
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

/** The note for an item; undefined for an item without one. */
function noteOn(item: StreamItem): string | undefined {
  switch (item.type) {
    case 'tool_call':
      return toolText(item.tool, item.args)
    case 'tool_result':
      return item.error === undefined ? undefined : `${cleanLine(item.tool)} failed: ${firstLine(item.error.message)}`
    case 'question':
      return `asks: ${firstLine(item.question)}`
    case 'machine':
      return cleanLine(`${item.event}: ${stateText(item.value)}`)
    case 'emitted':
      return cleanLine(`emits ${item.event.type}`)
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
/** A longer sequence is taken as incomplete, and its characters are shown after cleaning. */
const maxSequenceLength = 64

/**
 * Cleans text that arrives in pieces. An escape sequence or a character that is cut at the end of a piece is held until the next
 * piece, so that it is cleaned as a whole.
 */
export class TextFlow {
  #held = ''

  /** Returns the clean text that is complete. */
  take(piece: string): string {
    const text = this.#held + piece
    const held = endsInside(text)
    this.#held = text.slice(text.length - held)
    return cleanText(text.slice(0, text.length - held))
  }

  /** Returns the rest. */
  end(): string {
    const rest = cleanText(this.#held)
    this.#held = ''
    return rest
  }
}

/** The length of an incomplete end: of an escape sequence, a surrogate pair, or `\r\n`. */
function endsInside(text: string): number {
  const begin = text.lastIndexOf(escapeSign)
  const sequence = begin === -1 ? '' : text.slice(begin + 1)
  if (begin !== -1 && sequence.length <= maxSequenceLength && !isWhole(sequence)) return sequence.length + 1
  return /[\ud800-\udbff\r]$/.test(text) ? 1 : 0
}

/** Whether the text after an escape contains a whole sequence. */
function isWhole(sequence: string): boolean {
  return /^\[[0-9;?]*[A-Za-z~]/.test(sequence) || sequence.includes(bellSign)
}
