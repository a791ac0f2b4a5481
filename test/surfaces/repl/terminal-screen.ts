// Emulates the parts of a terminal that a REPL uses: rows of characters, a cursor, and the sequences that node's readline writes. It
// throws for other sequences, so that no test relies on a wrong screen.

const escapeCharacter = String.fromCodePoint(27)
const controlSequence = new RegExp(`^${escapeCharacter}\\[([?>]?)([\\d;]*)([A-Za-z])`)
/** Matches an incomplete sequence. */
const beginning = new RegExp(`^${escapeCharacter}(\\[[?>]?[\\d;]*)?$`)

export class TerminalScreen {
  readonly #columns: number
  readonly #rows: string[][] = [[]]
  #row = 0
  #column = 0
  /** The last column has been written: the next character goes to the next row. */
  #full = false
  #unread = ''

  constructor(columns: number) {
    this.#columns = columns
  }

  get cursor(): { row: number; column: number } {
    return { row: this.#row, column: this.#column }
  }

  /** The rows, without the blanks at their ends. */
  get lines(): string[] {
    return this.#rows.map((row) => row.join('').trimEnd())
  }

  /** The whole row of the cursor. */
  get line(): string {
    return this.lines[this.#row] ?? ''
  }

  write(text: string): void {
    const all = this.#unread + text
    this.#unread = ''
    for (let at = 0; at < all.length; ) {
      const rest = all.slice(at)
      const sequence = controlSequence.exec(rest)
      if (sequence !== null) {
        this.#control(sequence[1] as string, sequence[2] as string, sequence[3] as string)
        at += sequence[0].length
      } else if (beginning.test(rest)) {
        this.#unread = rest
        return
      } else {
        const character = String.fromCodePoint(rest.codePointAt(0) as number)
        this.#put(character)
        at += character.length
      }
    }
  }

  #put(character: string): void {
    switch (character) {
      case '\r':
        this.#column = 0
        this.#full = false
        return
      case '\n':
        this.#down()
        return
      case '\b':
        this.#column = Math.max(0, this.#column - 1)
        return
      case '\u0007':
        return
    }
    if (character < ' ') throw new Error(`The screen does not support ${JSON.stringify(character)}`)
    if (this.#full) {
      this.#down()
      this.#column = 0
    }
    const row = this.#rows[this.#row] as string[]
    while (row.length < this.#column) row.push(' ')
    row[this.#column] = character
    if (this.#column === this.#columns - 1) this.#full = true
    else this.#column++
  }

  #down(): void {
    this.#full = false
    this.#row++
    if (this.#rows[this.#row] === undefined) this.#rows.push([])
  }

  #control(mark: string, parameters: string, kind: string): void {
    const count = parameters === '' ? 1 : Number(parameters.split(';')[0])
    const row = this.#rows[this.#row] as string[]
    this.#full = false
    switch (`${mark}${kind}`) {
      case 'A':
        this.#row = Math.max(0, this.#row - count)
        return
      case 'B':
        for (let moved = 0; moved < count; moved++) this.#down()
        return
      case 'C':
        this.#column = Math.min(this.#columns - 1, this.#column + count)
        return
      case 'D':
        this.#column = Math.max(0, this.#column - count)
        return
      case 'G':
        this.#column = count - 1
        return
      case 'J':
        if (parameters !== '' && parameters !== '0') throw new Error(`The screen does not support CSI ${parameters}J`)
        row.length = Math.min(row.length, this.#column)
        this.#rows.length = this.#row + 1
        return
      case 'K':
        if (parameters !== '' && parameters !== '0') throw new Error(`The screen does not support CSI ${parameters}K`)
        row.length = Math.min(row.length, this.#column)
        return
      case 'm':
      case '?h':
      case '?l':
        return
      default:
        throw new Error(`The screen does not support CSI ${mark}${parameters}${kind}`)
    }
  }
}
