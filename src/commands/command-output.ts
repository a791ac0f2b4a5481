// The output of a command on its way to live readers and into the ledger: whole lines of well-formed text, without the
// secrets given to the command, and bounded. Works on bytes, because a chunk may end in the middle of a character.
import { startOf } from '../core/storable-text.ts'
import type { OutputStreamName } from '../entities/output.ts'
import { createMasks, type Secret, type SecretMask } from './secrets.ts'

/** Bytes kept of the end of each stream. */
export const maxTailBytes = 64 * 1024
/** A longer line is passed on in pieces of this many bytes. */
export const maxLineLength = 8 * 1024
/** Bytes of output stored per command; the rest is only streamed live. */
export const maxStoredBytes = 1024 * 1024
export const maxStoredLines = 10_000

const newline = 10

/** Receives the lines: `Run.emit`. */
export type Emit = (text: string, options: { store: boolean; stream: OutputStreamName }) => void

/** The output of one command. */
export interface CommandOutput {
  stdout: OutputStream
  stderr: OutputStream
}

/** One of the two streams of a command. */
export interface OutputStream {
  push(chunk: Buffer): void
  /** Passes on the rest when the last line has no newline. */
  finish(): void
  /** The last `maxTailBytes` bytes as text. */
  text(): string
  /** Something before `text` was dropped. */
  readonly truncated: boolean
}

/**
 * @param secrets are replaced in the output.
 * @param whole gets all bytes of stdout, without the secrets.
 */
export function createCommandOutput(
  emit: Emit,
  secrets: readonly Secret[] = [],
  whole?: { push(chunk: Buffer): void },
): CommandOutput {
  const emitLines = boundStorage(emit)
  const createMask = createMasks(secrets)
  return {
    stdout: createOutputStream(emitLines('stdout'), createMask?.(), whole),
    stderr: createOutputStream(emitLines('stderr'), createMask?.()),
  }
}

function createOutputStream(
  emitLines: (lines: string[]) => void,
  mask: SecretMask | undefined,
  whole?: { push(chunk: Buffer): void },
): OutputStream {
  const lines = new LineSplitter()
  const tail = new Tail(maxTailBytes)
  const take = (chunk: Buffer): void => {
    tail.push(chunk)
    whole?.push(chunk)
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

/**
 * For each of the streams: emits each line while lines are stored; afterwards each chunk, since the lines are no longer stored separately.
 */
function boundStorage(emit: Emit): (stream: OutputStreamName) => (lines: string[]) => void {
  let storedLines = 0
  let storedBytes = 0
  let full = false
  return (stream) => (lines) => {
    let next = 0
    for (; !full && next < lines.length; next++) {
      const line = `${lines[next]}\n`
      const bytes = Buffer.byteLength(line)
      full = storedLines === maxStoredLines || storedBytes + bytes > maxStoredBytes
      if (full) emit(storageNotice, { store: true, stream })
      else emit(line, { store: true, stream })
      if (full) break
      storedLines += 1
      storedBytes += bytes
    }
    if (next < lines.length) emit(`${lines.slice(next).join('\n')}\n`, { store: false, stream })
  }
}

const storageNotice =
  `[errand] This command has printed ${maxStoredLines} lines or ${maxStoredBytes / 1024} KiB. ` +
  'What follows is shown live and not stored.\n'

/** Splits a stream of bytes into lines of at most `maxLineLength` bytes, without their newlines. */
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
    // A copy: a view would keep the whole chunk in memory.
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
  readonly #limit: number
  /** Bytes of the whole stream. */
  #length = 0
  #kept: Buffer = Buffer.alloc(0)

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Bytes are missing from `text`, or will be when it is read: the kept bytes are cut only now and then. */
  get truncated(): boolean {
    return this.#length > this.#limit
  }

  push(chunk: Buffer): void {
    this.#length += chunk.length
    this.#kept = Buffer.concat([this.#kept, chunk.subarray(-this.#limit)])
    // Twice the limit, so that most chunks are appended without moving the kept bytes.
    if (this.#kept.length > 2 * this.#limit) this.#cut()
  }

  text(): string {
    if (this.#kept.length > this.#limit) this.#cut()
    return toText(this.truncated ? this.#kept.subarray(nextCharacter(this.#kept)) : this.#kept)
  }

  #cut(): void {
    this.#kept = Buffer.from(this.#kept.subarray(-this.#limit))
  }
}

/** The last bytes of the text, at most `limit`, from the start of a character. */
export function endOfText(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  const end = bytes.subarray(-limit)
  return end.subarray(nextCharacter(end)).toString()
}

/** The first bytes of the text, at most `limit`, to the end of a character. */
export function startOfText(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  return bytes.length <= limit ? text : bytes.subarray(0, characterStart(bytes, limit)).toString()
}

/** UTF-8 as text that every ledger accepts: invalid bytes and NUL become U+FFFD. */
function toText(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll('\0', '\uFFFD')
}

/** The nearest index at or before `index` at which a character starts; `index` itself in what is not UTF-8. */
function characterStart(bytes: Buffer, index: number): number {
  for (let start = index; start > index - 4 && start >= 0; start--) if (!isContinuation(bytes[start])) return start
  return index
}

/** The first index at which a character starts. */
function nextCharacter(bytes: Buffer): number {
  for (let start = 0; start < 4; start++) if (!isContinuation(bytes[start])) return start
  return 0
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

/** The command as messages quote it: its first line, truncated. */
export function abbreviated(command: string): string {
  const [line = ''] = command.trim().split('\n', 1)
  const short = startOf(line, 200)
  return short === command.trim() ? short : `${short}…`
}
