// The world as the command line sees it, as one value: tests hand in their own, `bin.ts` the process's.
import type { ErrandError } from '../core/errors.ts'
import { cleanText, visibleJson } from './terminal-text.ts'

/** What is written to: a stream of the process, or a collector in a test. */
export interface Output {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
  rows?: number | undefined
}

/** A terminal's keys, as `process.stdin` gives them. */
export interface Keyboard extends NodeJS.ReadableStream {
  setRawMode(raw: boolean): unknown
}

export interface CommandIo {
  stdout: Output
  stderr: Output
  /** The keys of whoever sits at the terminal; undefined when nobody does. */
  keyboard?: Keyboard | undefined
  /** Standard input when it is no terminal; touched only by verbs that read it. */
  input?: (() => NodeJS.ReadableStream) | undefined
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** Calls back when the user wants to stop (SIGINT, SIGTERM); returns what ends the listening. */
  onInterrupt(listener: () => void): () => void
  /** The same from inside: for Ctrl-C while the keyboard is taken. */
  interrupt(): void
  /** Calls back when the process shall end (SIGTERM, SIGHUP), and leaves Ctrl-C to whoever has the keyboard; returns what ends it. */
  onTermination?: ((listener: () => void) => () => void) | undefined
  /** Ends the process at once: what a second interrupt asks for. */
  exit(code: number): void
}

/** Clean lines on stdout. */
export function print(io: CommandIo, text: string | readonly string[]): void {
  for (const line of typeof text === 'string' ? [text] : text) io.stdout.write(`${cleanText(line)}\n`)
}

/** A line on stdout that was cleaned before it was coloured. */
export function printPainted(io: CommandIo, text: string): void {
  io.stdout.write(`${text}\n`)
}

/** A line on stderr, clean: what is said about the work rather than being its outcome. */
export function note(io: CommandIo, text: string): void {
  io.stderr.write(`${cleanText(text)}\n`)
}

/** One JSON value a line. */
export function printJson(io: CommandIo, value: unknown): void {
  io.stdout.write(`${visibleJson(JSON.stringify(value))}\n`)
}

export interface JsonFlag {
  json?: boolean | undefined
}

/** What a verb has found or done: with `--json` the value, else the same in words. */
export function printValue(io: CommandIo, { json }: JsonFlag, value: unknown, words: string | readonly string[]): void {
  if (json) printJson(io, value)
  else print(io, words)
}

/** Several of them: with `--json` each in a line of its own. */
export function printItems(
  io: CommandIo,
  { json }: JsonFlag,
  items: readonly unknown[],
  words: string | readonly string[],
): void {
  if (json) for (const item of items) printJson(io, item)
  else print(io, words)
}

/** What was refused, on stderr; with `--json` as an object. */
export function noteRefusal(io: CommandIo, { json }: JsonFlag, error: ErrandError): void {
  note(io, json ? visibleJson(JSON.stringify({ error: error.toJSON() })) : `errand: ${error.message}`)
}

/** A terminal on which lines can be rewritten. */
export function isLiveTerminal(io: CommandIo): boolean {
  return io.stdout.isTTY === true && io.env['TERM'] !== 'dumb'
}

/** Colours only on a terminal, and only if nobody objects (no-color.org). */
export function hasColor(io: CommandIo): boolean {
  return isLiveTerminal(io) && !io.env['NO_COLOR']
}
