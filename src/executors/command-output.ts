// What a command prints, on its way to the people who watch and into the ledger: whole lines, well-formed text without the secrets
// that the command was given, and a bound on everything that is kept. Works on bytes, because a chunk may end in the middle of a character.
import { createMasks, type Secret, type SecretMask } from './secret-mask.ts'

/** How much of each stream is kept, from its end, in bytes. */
export const maxTailBytes = 64 * 1024
/** A longer line is passed on in pieces of so many bytes. */
export const maxLineLength = 8 * 1024
/** How much of a command's output is stored; the rest is only shown live. */
export const maxStoredBytes = 1024 * 1024
export const maxStoredLines = 10_000

const newline = 10

/** Where lines go: `Run.emit`. */
export type Emit = (text: string, options: { store: boolean }) => void

/** The output of one command. */
export interface CommandOutput {
  stdout: OutputStream
  stderr: OutputStream
}

/** One of the two streams of a command. */
export interface OutputStream {
  push(chunk: Buffer): void
  /** Passes on what is left when the last line has no end. */
  finish(): void
  /** The last `maxTailBytes` bytes as text. */
  text(): string
  /** Something before `text` was dropped. */
  readonly truncated: boolean
}

/** @param secrets what is never to be seen of what it prints. */
export function createCommandOutput(emit: Emit, secrets: readonly Secret[] = []): CommandOutput {
  const emitLines = boundStorage(emit)
  const createMask = createMasks(secrets)
  return {
    stdout: createOutputStream(emitLines, createMask?.()),
    stderr: createOutputStream(emitLines, createMask?.()),
  }
}

function createOutputStream(emitLines: (lines: string[]) => void, mask: SecretMask | undefined): OutputStream {
  const lines = new LineSplitter()
  const tail = new Tail(maxTailBytes)
  const take = (chunk: Buffer): void => {
    tail.push(chunk)
    emitLines(lines.push(chunk))
  }
  return {
    push: (chunk) => take(mask === undefined ? chunk : mask.push(chunk)),
    finish() {
      if (mask !== undefined) take(mask.finish())
      emitLines(lines.finish())
    },
    text: () => tail.text(),
    get truncated() {
      return tail.truncated
    },
  }
}

/** One emit per line while lines are stored; afterwards one per chunk, since nobody keeps them apart any more. */
function boundStorage(emit: Emit): (lines: string[]) => void {
  let storedLines = 0
  let storedBytes = 0
  let full = false
  return (lines) => {
    let next = 0
    for (; !full && next < lines.length; next++) {
      const line = `${lines[next]}\n`
      const bytes = Buffer.byteLength(line)
      full = storedLines === maxStoredLines || storedBytes + bytes > maxStoredBytes
      if (full) emit(storageNotice, { store: true })
      else emit(line, { store: true })
      if (full) break
      storedLines += 1
      storedBytes += bytes
    }
    if (next < lines.length) emit(`${lines.slice(next).join('\n')}\n`, { store: false })
  }
}

const storageNotice =
  `[errand] This command has printed ${maxStoredLines} lines or ${maxStoredBytes / 1024} KiB. ` +
  'What follows is shown live and not stored.\n'

/** Cuts a stream of bytes into lines of at most `maxLineLength` bytes, without their newlines. */
export class LineSplitter {
  #rest: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): string[] {
    const lines: string[] = []
    let rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (;;) {
      const end = rest.indexOf(newline)
      const whole = end !== -1 && end <= maxLineLength
      if (!whole && rest.length <= maxLineLength) break
      const cut = whole ? end : characterStart(rest, maxLineLength)
      lines.push(toText(rest.subarray(0, cut)))
      rest = rest.subarray(whole ? cut + 1 : cut)
    }
    // A copy: a view would keep the whole chunk alive.
    this.#rest = Buffer.from(rest)
    return lines
  }

  finish(): string[] {
    const rest = this.#rest
    this.#rest = Buffer.alloc(0)
    return rest.length === 0 ? [] : [toText(rest)]
  }
}

/** Keeps the end of a stream of bytes. */
export class Tail {
  truncated = false
  readonly #limit: number
  #kept: Buffer = Buffer.alloc(0)

  constructor(limit: number) {
    this.#limit = limit
  }

  push(chunk: Buffer): void {
    this.#kept = Buffer.concat([this.#kept, chunk.subarray(-this.#limit)])
    if (chunk.length > this.#limit) this.truncated = true
    // Twice the limit, so that most chunks are appended without moving what is there again.
    if (this.#kept.length > 2 * this.#limit) this.#cut()
  }

  text(): string {
    if (this.#kept.length > this.#limit) this.#cut()
    return toText(this.truncated ? this.#kept.subarray(nextCharacter(this.#kept)) : this.#kept)
  }

  #cut(): void {
    this.#kept = Buffer.from(this.#kept.subarray(-this.#limit))
    this.truncated = true
  }
}

/** The text's last bytes, at most so many, from the start of a character. */
export function endOfText(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  const end = bytes.subarray(-limit)
  return end.subarray(nextCharacter(end)).toString()
}

/** The text's first bytes, at most so many, to the end of a character. */
export function startOfText(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  return bytes.length <= limit ? text : bytes.subarray(0, characterStart(bytes, limit)).toString()
}

/** UTF-8 as text that every ledger takes: what is no character, and NUL, becomes U+FFFD. */
function toText(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll('\0', '\uFFFD')
}

/** The nearest place at or before the index where a character starts; the index itself in what is not UTF-8. */
function characterStart(bytes: Buffer, index: number): number {
  for (let start = index; start > index - 4 && start >= 0; start--) if (!isContinuation(bytes[start])) return start
  return index
}

/** The first place where a character starts. */
function nextCharacter(bytes: Buffer): number {
  for (let start = 0; start < 4; start++) if (!isContinuation(bytes[start])) return start
  return 0
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
