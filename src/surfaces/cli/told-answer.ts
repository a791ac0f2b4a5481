// What an agent says and does, out of the items of its task's stream: its text as it comes, once and whole however it arrived, and
// the rest as notes. Announcements are left out: the calls that they tell of are noted themselves.

import type { StreamItem } from '../../api.ts'
import { failureSuffix } from '../../entities/task.ts'
import { toolWords } from './event-words.ts'
import { cleanLine, firstLine } from './terminal-text.ts'
import { TextFlow } from './text-flow.ts'

export interface Listener {
  /** A piece of what the agent says; clean. Messages end with a line break. */
  text(piece: string): void
  /** Something about the work: one line, clean. */
  note(line: string): void
}

export class ToldAnswer {
  readonly #listener: Listener
  readonly #flow = new TextFlow()
  /** The message that is being said. */
  #current: { id: string; said: string } | undefined
  /** The shown text ends with a line break. */
  #lineEnded = true
  #heard = 0

  /** `hearsAll`: what others tell the agent is told too, but for the first, its goal. */
  constructor(listener: Listener, { hearsAll = true }: { hearsAll?: boolean } = {}) {
    this.#listener = listener
    if (!hearsAll) this.#heard = Number.NEGATIVE_INFINITY
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
        this.#endMessage()
        return
      default: {
        const words = noteOn(item)
        if (words !== undefined) this.#note(words)
      }
    }
  }

  /** A note from elsewhere, between the lines of the text. */
  note(line: string): void {
    this.#note(line)
  }

  /** Nothing more comes: what was said so far is ended with a line break. */
  end(): void {
    this.#endMessage()
  }

  #piece(id: string, content: string): void {
    if (this.#current?.id !== id) {
      // A step that broke off is tried again as another message.
      if (this.#current !== undefined) {
        this.#endMessage()
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
      this.#endMessage()
      this.#say(content)
    }
    this.#endMessage()
  }

  /** The first is the goal, which whoever listens gave himself. */
  #toldBy(content: string): void {
    if (this.#heard > 0) this.#note(`user: ${firstLine(content)}`)
    this.#heard++
  }

  #say(content: string): void {
    this.#write(this.#flow.take(content))
  }

  #endMessage(): void {
    this.#write(this.#flow.end())
    if (!this.#lineEnded) this.#write('\n')
    this.#current = undefined
  }

  #note(line: string): void {
    this.#write(this.#flow.end())
    if (!this.#lineEnded) this.#write('\n')
    this.#listener.note(line)
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
      return toolWords(item.tool, item.args)
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
    case 'start':
    case 'content':
    case 'message':
    case 'end':
      return undefined
  }
}
