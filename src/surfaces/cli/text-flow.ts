// Text that arrives in pieces, on its way to a terminal. A piece may end in the middle of an escape sequence or of a character:
// its end then waits for the next piece, so that the whole is cleaned as one.
import { cleanText } from './terminal-text.ts'

const escapeSign = '\u001b'
const bellSign = '\u0007'
/** A sequence that is longer has no end: it is shown as what is left of it. */
const longestSequence = 64

export class TextFlow {
  #held = ''

  /** What can be shown by now. */
  take(piece: string): string {
    const text = this.#held + piece
    const held = endsInside(text)
    this.#held = text.slice(text.length - held)
    return cleanText(text.slice(0, text.length - held))
  }

  /** What is left. */
  end(): string {
    const rest = cleanText(this.#held)
    this.#held = ''
    return rest
  }
}

/** How many characters at the end wait for more: a sequence, half of a character, a line break in two parts. */
function endsInside(text: string): number {
  const begin = text.lastIndexOf(escapeSign)
  const sequence = begin === -1 ? '' : text.slice(begin + 1)
  if (begin !== -1 && sequence.length <= longestSequence && !isWhole(sequence)) return sequence.length + 1
  return /[\ud800-\udbff\r]$/.test(text) ? 1 : 0
}

/** What follows an escape has come to the end of its sequence. */
function isWhole(sequence: string): boolean {
  return /^\[[0-9;?]*[A-Za-z~]/.test(sequence) || sequence.includes(bellSign)
}
