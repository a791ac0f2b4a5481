// Where everything goes that the REPL says. What comes while somebody types is written above the line being typed, which is then
// drawn again with the cursor where it was; what comes while a line is carried out follows what that line has said so far.
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline'
import { cleanLine, cleanText } from '../../terminal/terminal-text.ts'

/** The line being typed, as `node:repl` keeps it. */
export interface TypedLine {
  getCursorPos(): { rows: number; cols: number }
  displayPrompt(preserveCursor?: boolean): void
  /** Rows from the top of the prompt to the cursor when it was drawn last: what the next drawing goes up by. */
  prevRows?: number
}

export interface PrinterOutput {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
}

export class Printer {
  /** The line being typed at a terminal, until the input has ended; there is one whenever nothing is carried out. */
  typed: TypedLine | undefined
  readonly #output: PrinterOutput
  #busy = false
  #lineEnded = true

  constructor(output: PrinterOutput) {
    this.#output = output
  }

  /** Columns that a line may take; as many as it likes where there is no terminal. */
  get columns(): number | undefined {
    return this.#output.isTTY === true ? this.#output.columns || 80 : undefined
  }

  /** A line is carried out from now on. */
  begin(): void {
    this.#busy = true
    this.#lineEnded = true
  }

  /** It is over, and the next one may be typed. */
  end(): void {
    this.#busy = false
  }

  /** What comes next begins on a line of its own. */
  endLine(): void {
    if (!this.#lineEnded) this.#output.write('\n')
    this.#lineEnded = true
  }

  /** A piece of text of the line that is carried out; what one that was let go of still has to say is not told. */
  text(piece: string): void {
    if (!this.#busy && this.typed !== undefined) return
    const clean = cleanText(piece)
    if (clean === '') return
    this.#output.write(clean)
    this.#lineEnded = clean.endsWith('\n')
  }

  /** Whole lines. */
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

  /** Something that nobody has just asked for. */
  notice(words: string): void {
    this.line(`· ${cleanLine(words)}`)
  }

  #above(typed: TypedLine, lines: readonly string[]): void {
    const output = this.#output as unknown as NodeJS.WritableStream
    moveCursor(output, 0, -typed.getCursorPos().rows)
    this.wipeLine()
    for (const line of lines) output.write(`${line}\n`)
    // The cursor stands at the left of an empty line now: nothing is above it that should be drawn over.
    typed.prevRows = 0
    typed.displayPrompt(true)
  }
}
