// The input and output of a chat. At a terminal the line being typed stays at the bottom, and answers are written above it, line by
// line. Through a pipe everything is written as it comes.
import { createInterface, type Interface } from 'node:readline'
import { Readable } from 'node:stream'
import type { Listener } from './answer-stream.ts'
import { type CommandIo, note } from './io.ts'
import { cleanLine, displayWidth } from './terminal-text.ts'

export interface ChatLines {
  /** Whether the user can type while an answer comes. */
  readonly isTerminal: boolean
  readonly listener: Listener
  /** Ends with the input, or with `close`. */
  readonly lines: AsyncIterable<string>
  /** Shows the prompt for the next line. */
  prompt(): void
  close(): void
}

export function openChatLines(io: CommandIo): ChatLines {
  const { keyboard } = io
  return keyboard === undefined ? pipedLines(io) : typedLines(io, keyboard)
}

function pipedLines(io: CommandIo): ChatLines {
  const reader = createInterface({ input: io.input?.() ?? Readable.from([]), crlfDelay: Number.POSITIVE_INFINITY })
  const lines = linesOf(reader)
  return {
    isTerminal: false,
    listener: {
      text: (piece) => void io.stdout.write(piece),
      note: (text) => note(io, `· ${text}`),
    },
    lines,
    prompt() {},
    close: () => reader.close(),
  }
}

function typedLines(io: CommandIo, keyboard: NonNullable<CommandIo['keyboard']>): ChatLines {
  const output = io.stdout as unknown as NodeJS.WritableStream
  const reader = createInterface({ input: keyboard, output, terminal: true, prompt: '› ' })
  reader.on('SIGINT', () => io.interrupt())
  const lines = linesOf(reader)
  const above = (text: string): void => {
    io.stdout.write('\r\u001b[J')
    io.stdout.write(text)
    reader.prompt(true)
  }
  const wrapped = new WholeLines(() => (io.stdout.columns || 80) - 1, above)
  return {
    isTerminal: true,
    listener: {
      text: (piece) => wrapped.take(piece),
      note: (text) => {
        wrapped.end()
        above(`· ${cleanLine(text)}\n`)
      },
    },
    lines,
    prompt: () => reader.prompt(true),
    close: () => reader.close(),
  }
}

/** Starts collecting at once: the reader emits lines before the first one is requested. */
function linesOf(reader: Interface): AsyncIterable<string> {
  return reader[Symbol.asyncIterator]()
}

/** Passes text on in whole lines; a line that is wider than the terminal is cut between words. */
export class WholeLines {
  readonly #width: () => number
  readonly #write: (text: string) => void
  #rest = ''

  constructor(width: () => number, write: (text: string) => void) {
    this.#width = width
    this.#write = write
  }

  take(piece: string): void {
    const lines = (this.#rest + piece).split('\n')
    this.#rest = lines.pop() ?? ''
    const ready = lines.map((line) => `${line}\n`)
    const cut = this.#rest.lastIndexOf(' ')
    if (displayWidth(this.#rest) > this.#width() && cut > 0) {
      ready.push(`${this.#rest.slice(0, cut)}\n`)
      this.#rest = this.#rest.slice(cut + 1)
    }
    if (ready.length > 0) this.#write(ready.join(''))
  }

  end(): void {
    if (this.#rest !== '') this.#write(`${this.#rest}\n`)
    this.#rest = ''
  }
}
