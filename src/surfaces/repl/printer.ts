// The output of the REPL. Output that comes while the user types is written above the line being typed, which is then redrawn with
// the cursor in the same position; output that comes while a line runs follows the output of that line.
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline'
import { cleanLine, cleanText } from '../terminal/terminal-text.ts'

/** The line being typed, as `node:repl` keeps it. */
export interface TypedLine {
  getCursorPos(): { rows: number; cols: number }
  displayPrompt(preserveCursor?: boolean): void
  /** Rows from the top of the prompt to the cursor at the last drawing, by which the next drawing goes up. */
  prevRows?: number
}

export interface PrinterOutput {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
}

export class Printer {
  /** The line being typed at a terminal, until the input has ended; shown whenever no line runs. */
  typed: TypedLine | undefined
  readonly #output: PrinterOutput
  #busy = false
  #lineEnded = true

  constructor(output: PrinterOutput) {
    this.#output = output
  }

  /** The width of the terminal; undefined without one. */
  get columns(): number | undefined {
    return this.#output.isTTY === true ? this.#output.columns || 80 : undefined
  }

  /** A line starts running. */
  begin(): void {
    this.#busy = true
    this.#lineEnded = true
  }

  /** The line has ended, and the next one may be typed. */
  end(): void {
    this.#busy = false
  }

  /** The next output begins on a new line. */
  endLine(): void {
    if (!this.#lineEnded) this.#output.write('\n')
    this.#lineEnded = true
  }

  /** Prints a piece of text of the running line; text of a line that was interrupted is dropped. */
  text(piece: string): void {
    if (!this.#busy && this.typed !== undefined) return
    const clean = cleanText(piece)
    if (clean === '') return
    this.#output.write(clean)
    this.#lineEnded = clean.endsWith('\n')
  }

  /** Prints whole lines. */
  lines(lines: readonly string[]): void {
    if (!this.#busy && this.typed !== undefined) {
      this.#above(this.typed, lines.map(cleanText))
      return
    }
    this.endLine()
    for (const line of lines) this.#output.write(`${cleanText(line)}\n`)
  }

  line(line: string): void {
    this.lines([line])
  }

  /** Wipes away the `^C` that a terminal shows for an interrupt. */
  wipeLine(): void {
    const output = this.#output as unknown as NodeJS.WritableStream
    cursorTo(output, 0)
    clearScreenDown(output)
  }

  /** Prints a line that no command has requested. */
  notice(text: string): void {
    this.line(`· ${cleanLine(text)}`)
  }

  #above(typed: TypedLine, lines: readonly string[]): void {
    const output = this.#output as unknown as NodeJS.WritableStream
    moveCursor(output, 0, -typed.getCursorPos().rows)
    this.wipeLine()
    for (const line of lines) output.write(`${line}\n`)
    // The cursor is at the beginning of an empty line, so the next drawing must not go up.
    typed.prevRows = 0
    typed.displayPrompt(true)
  }
}
