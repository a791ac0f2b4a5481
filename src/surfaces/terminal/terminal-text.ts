// Cleans and measures text for a terminal. Names, outputs and errors come from untrusted tasks: an escape sequence in them could
// recolour, retitle or even type into the user's terminal. All of them are cleaned here before they are shown.

import { stripVTControlCharacters } from 'node:util'
import type stringWidth from 'string-width'
import { fromOwnPlace } from '../../core/own-require.ts'
import { startOf } from '../../core/storable-text.ts'

/** Control characters except line break and tab, direction overrides, and Unicode line separators. */
const controlCharacters = /(?![\n\t])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu
const printableAscii = /^[\x20-\x7e]*$/
const maxShownLength = 2_000
/** Removes escape sequences, control characters and direction overrides; keeps line breaks and tabs. */
export function cleanText(text: string): string {
  return stripVTControlCharacters(text.replaceAll('\r\n', '\n')).replace(controlCharacters, '')
}

/** As `cleanText`, on one line: each run of white space becomes one space. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim()
}

/** What a terminal shows of a line of output: its last piece, because carriage returns write over what stood before. */
export function shownPiece(line: string): string {
  return line.includes('\r') ? (line.split('\r').findLast((piece) => piece !== '') ?? '') : line
}

/** Indents every line by two columns. */
export function indented(text: string): string {
  return `  ${text.replaceAll('\n', '\n  ')}`
}

/** Cuts a long text to 2,000 characters, and appends its length. */
export function abridged(text: string): string {
  return text.length > maxShownLength
    ? `${startOf(text, maxShownLength)}… (${text.length} characters; --json shows all)`
    : text
}

/** The first line that is not blank, cleaned. */
export function firstLine(text: string): string {
  return cleanLine(fullLines(text)[0] ?? '')
}

/** The last line that is not blank, cleaned. */
export function lastLine(text: string): string {
  return cleanLine(fullLines(text).at(-1) ?? '')
}

function fullLines(text: string): string[] {
  const lines = cleanText(text).split('\n')
  return lines.filter((line) => line.trim() !== '')
}

/** Columns that clean text takes. */
export function displayWidth(text: string): number {
  return printableAscii.test(text) ? text.length : unicode().width(text)
}

/** Clean text cut to so many columns, with an ellipsis where something is missing. No character is cut in two. */
export function fitWidth(text: string, columns: number): string {
  if (columns <= 0) return ''
  return displayWidth(text) <= columns ? text : `${beginningOf(text, columns - 1)}…`
}

/** Clean text in lines of at most so many columns, broken at spaces. A longer word is broken between two characters. */
export function wrapText(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = []
    let last = ''
    for (const piece of line.split(' ').flatMap((word) => brokenWord(word, columns))) {
      const joined = last === '' ? piece : `${last} ${piece}`
      if (displayWidth(joined) > columns) {
        lines.push(last)
        last = piece
      } else last = joined
    }
    return [...lines, last]
  })
}

/** Like `wrapText`, for indented lines and tables of two columns: a line is continued below the beginning of its text. */
export function wrapIndented(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => {
    if (displayWidth(line) <= columns) return [line]
    const [indent = ''] = /^ */.exec(line) ?? []
    const [label = indent] = /^ *\S.*? {2,}(?=\S)/.exec(line) ?? []
    const begin = displayWidth(label) <= columns / 2 ? label : indent
    const below = ' '.repeat(displayWidth(begin))
    const room = Math.max(1, columns - below.length)
    return wrapText(line.slice(begin.length), room).map((part, index) =>
      `${index === 0 ? begin : below}${part}`.trimEnd(),
    )
  })
}

function brokenWord(word: string, columns: number): string[] {
  const pieces: string[] = []
  let rest = word
  while (displayWidth(rest) > columns) {
    const piece = beginningOf(rest, columns) || (Array.from(rest)[0] as string)
    pieces.push(piece)
    rest = rest.slice(piece.length)
  }
  return rest === '' && pieces.length > 0 ? pieces : [...pieces, rest]
}

/** As many characters from the beginning of a clean text as fit into so many columns. */
function beginningOf(text: string, columns: number): string {
  if (printableAscii.test(text)) return startOf(text, columns)
  const { width, characters } = unicode()
  let kept = ''
  let taken = 0
  for (const { segment } of characters.segment(text)) {
    taken += width(segment)
    if (taken > columns) break
    kept += segment
  }
  return kept
}

/** Filled with spaces to so many columns. */
export function padWidth(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)))
}

interface Unicode {
  width: typeof stringWidth
  /** What a reader takes for one character: an emoji of several code points, a letter with its accents. */
  characters: Intl.Segmenter
}

let loaded: Unicode | undefined

/** Loaded for the first text that is not ASCII: the tables of Unicode take a third of the time of a short command. */
function unicode(): Unicode {
  loaded ??= {
    width: fromOwnPlace((require) => require('string-width') as { default: typeof stringWidth }).default,
    characters: new Intl.Segmenter(),
  }
  return loaded
}
