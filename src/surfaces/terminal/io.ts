// The input and output of the command line as one value. `bin.ts` passes those of the process, tests their own.
import type { ErrandError } from '../../core/errors.ts'
import { visibleJson } from '../../core/visible-json.ts'
import { cleanText } from './terminal-text.ts'

/** A stream of the process, or a collector in a test. */
export interface Output {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
  rows?: number | undefined
}

/** The keys of a terminal, like `process.stdin`. */
export interface Keyboard extends NodeJS.ReadableStream {
  setRawMode(raw: boolean): unknown
}

export interface CommandIo {
  stdout: Output
  stderr: Output
  /** Undefined when stdin is not a terminal. */
  keyboard?: Keyboard | undefined
  /** Stdin when it is not a terminal; called only by verbs that read it. */
  input?: (() => NodeJS.ReadableStream) | undefined
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** Calls back on SIGINT and SIGTERM; returns a function that removes the listener. */
  onInterrupt(listener: () => void): () => void
  /** Calls the interrupt listeners, for Ctrl-C while the keyboard is in raw mode. */
  interrupt(): void
  /** Calls back on SIGTERM and SIGHUP, and does not handle Ctrl-C; returns a function that removes the listener. */
  onTermination?: ((listener: () => void) => () => void) | undefined
  /** Ends the process at once, for a second interrupt. */
  exit(code: number): void
}

/** The width of a terminal, undefined for files and pipes. Terminals whose size is unknown report 0 columns. */
export function columnsOf({ columns }: Output): number | undefined {
  return columns === 0 ? 80 : columns
}

/** Prints clean lines on stdout. */
export function print(io: CommandIo, text: string | readonly string[]): void {
  for (const line of typeof text === 'string' ? [text] : text) io.stdout.write(`${cleanText(line)}\n`)
}

/** Prints a line that was cleaned before it was coloured. */
export function printPainted(io: CommandIo, text: string): void {
  io.stdout.write(`${text}\n`)
}

/** Prints a clean line on stderr, about the work and not a part of its result. */
export function note(io: CommandIo, text: string): void {
  io.stderr.write(`${cleanText(text)}\n`)
}

/** Prints one JSON value on a line. */
export function printJson(io: CommandIo, value: unknown): void {
  io.stdout.write(`${visibleJson(JSON.stringify(value))}\n`)
}

export interface JsonFlag {
  json?: boolean | undefined
}

/** Prints a result: with `--json` the value, else the text. */
export function printValue(io: CommandIo, { json }: JsonFlag, value: unknown, text: string | readonly string[]): void {
  if (json) printJson(io, value)
  else print(io, text)
}

/** Prints several results: with `--json` one value per line, else the text. */
export function printItems(
  io: CommandIo,
  { json }: JsonFlag,
  items: readonly unknown[],
  text: string | readonly string[],
): void {
  if (json) for (const item of items) printJson(io, item)
  else print(io, text)
}

/** Prints an error on stderr; with `--json` as an object. */
export function noteRefusal(io: CommandIo, { json }: JsonFlag, error: ErrandError): void {
  note(io, json ? visibleJson(JSON.stringify({ error: error.toJSON() })) : `errand: ${error.message}`)
}

/** Whether stdout is a terminal on which lines can be rewritten. */
export function isLiveTerminal(io: CommandIo): boolean {
  return io.stdout.isTTY === true && io.env['TERM'] !== 'dumb'
}

/** Whether to use colours: on a terminal without NO_COLOR (no-color.org). */
export function hasColor(io: CommandIo): boolean {
  return isLiveTerminal(io) && !io.env['NO_COLOR']
}
