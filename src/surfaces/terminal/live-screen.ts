// Rewrites the last lines of a terminal in place. Only changed lines are written, and the cursor is hidden until `end`.
import type { Output } from './io.ts'
import { displayWidth } from './terminal-text.ts'

const hideCursor = '\u001b[?25l'
const showCursor = '\u001b[?25h'
const clearLine = '\u001b[2K'
const clearBelow = '\u001b[0J'

export class LiveScreen {
  readonly #output: Output
  #shown: string[] = []
  #columns: number | undefined
  #rows: number | undefined
  #begun = false

  constructor(output: Output) {
    this.#output = output
  }

  /** Replaces the shown lines. Each must fit the width of the terminal. */
  draw(lines: readonly string[]): void {
    const begin = (this.#begun ? '' : hideCursor) + this.#removeResized()
    const update = this.#update(lines)
    if (begin + update !== '') this.#output.write(begin + update)
    this.#begun = true
    this.#shown = [...lines]
  }

  /** Keeps the last lines on the screen, with the cursor below them. */
  end(): void {
    if (this.#begun) this.#output.write(showCursor)
    this.#begun = false
    this.#shown = []
  }

  /** After a resize: removes the shown lines, which the terminal has wrapped anew. */
  #removeResized(): string {
    const { columns, rows } = this.#output
    const isSame = this.#columns === columns && this.#rows === rows
    this.#columns = columns
    this.#rows = rows
    if (isSame || this.#shown.length === 0) return ''
    const up = this.#shown.reduce((sum, line) => sum + rowsOf(line, columns), 0)
    this.#shown = []
    return `\u001b[${up}A\r${clearBelow}`
  }

  #update(lines: readonly string[]): string {
    const first = firstDifference(this.#shown, lines)
    if (first === undefined) return ''
    const up = this.#shown.length - first
    const back = up > 0 ? `\u001b[${up}A\r` : '\r'
    const changed = lines.slice(first).map((line, index) => {
      const same = this.#shown[first + index] === line
      return same ? '\n' : `${clearLine}${line}\n`
    })
    const shrunk = lines.length < this.#shown.length ? clearBelow : ''
    return back + changed.join('') + shrunk
  }
}

/** How many rows of the terminal a line takes. */
function rowsOf(line: string, columns: number | undefined): number {
  return columns ? Math.max(1, Math.ceil(displayWidth(line) / columns)) : 1
}

function firstDifference(before: readonly string[], after: readonly string[]): number | undefined {
  const length = Math.max(before.length, after.length)
  for (let index = 0; index < length; index++) if (before[index] !== after[index]) return Math.min(index, before.length)
  return undefined
}
