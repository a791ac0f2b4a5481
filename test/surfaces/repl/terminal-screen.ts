// Emulates the parts of a terminal that the REPL and the live views use: rows of cells, a cursor, and the sequences that node's readline
// and the live views write. It throws for other sequences, so that no test relies on a wrong screen.
import stringWidth from 'string-width'

const escapeCharacter = String.fromCodePoint(27)
const controlSequence = new RegExp(`^${escapeCharacter}\\[([?>]?)([\\d;]*)([A-Za-z])`)
/** Matches an incomplete sequence. */
const beginning = new RegExp(`^${escapeCharacter}(\\[[?>]?[\\d;]*)?$`)

const characters = new Intl.Segmenter()

function firstCharacter(text: string): string {
  if (text.charCodeAt(0) < 0x20) return text.charAt(0)
  return [...characters.segment(text.slice(0, 40))][0]?.segment ?? ''
}

export class TerminalScreen {
  #columns: number
  /** The cells; the second one of a wide character is an empty text. */
  #rows: string[][] = [[]]
  /** Indexes of the rows that continue in the next one, because a line was too long. */
  #wrapped = new Set<number>()
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
        const character = firstCharacter(rest)
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
    const width = stringWidth(character)
    if (this.#full || this.#column + width > this.#columns) {
      this.#wrapped.add(this.#row)
      this.#down()
      this.#column = 0
    }
    const row = this.#rows[this.#row] as string[]
    while (row.length < this.#column) row.push(' ')
    row[this.#column] = character
    for (let cell = 1; cell < width; cell++) row[this.#column + cell] = ''
    this.#column += width
    if (this.#column >= this.#columns) {
      this.#column = this.#columns - 1
      this.#full = true
    }
  }

  /** Changes the width, and breaks the lines anew as most terminals do. The cursor must be at the beginning of a line. */
  resize(columns: number): void {
    const lines: string[] = []
    let cursor = 0
    for (const [index, row] of this.#rows.entries()) {
      const text = row.join('')
      if (this.#wrapped.has(index - 1)) lines[lines.length - 1] += text
      else lines.push(text.trimEnd())
      if (index === this.#row) cursor = lines.length - 1
    }
    this.#columns = columns
    this.#rows = [[]]
    this.#wrapped = new Set()
    this.#row = 0
    this.#column = 0
    this.#full = false
    let row = 0
    for (const [index, line] of lines.entries()) {
      if (index > 0) this.write('\r\n')
      if (index === cursor) row = this.#row
      this.write(line)
    }
    this.#row = row
    this.#column = 0
    this.#full = false
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
        if (!['', '0', '2'].includes(parameters)) throw new Error(`The screen does not support CSI ${parameters}K`)
        row.length = parameters === '2' ? 0 : Math.min(row.length, this.#column)
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
