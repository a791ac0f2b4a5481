// Cleans and measures text for a terminal. Names, outputs and errors come from untrusted tasks: an escape sequence in them could
// recolour, retitle or even type into the user's terminal. All of them are cleaned here before they are shown.
import { stripVTControlCharacters } from 'node:util'

/** Control characters except line break and tab, direction overrides, and Unicode line separators. */
const controlCharacters = /(?![\n\t])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu
const maxShownLength = 2_000
const combining = /^[\p{M}\p{Cf}]$/u
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1faff}\u{20000}-\u{3fffd}]$/u

/** Removes escape sequences, control characters and direction overrides; keeps line breaks and tabs. */
export function cleanText(text: string): string {
  return stripVTControlCharacters(text.replaceAll('\r\n', '\n')).replace(controlCharacters, '')
}

/**
 * JSON that is safe on a terminal: characters that `cleanText` would remove are written as `\\uXXXX`, so that the value stays the same.
 * `JSON.stringify` escapes the C0 controls only.
 */
export function visibleJson(json: string): string {
  return json.replace(controlCharacters, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** As `cleanText`, on one line: each run of white space becomes one space. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim()
}

/** Indents every line by two columns. */
export function indented(text: string): string {
  return `  ${text.replaceAll('\n', '\n  ')}`
}

/** Cuts a long text to 2,000 characters, and appends its length. */
export function abridged(text: string): string {
  return text.length > maxShownLength
    ? `${text.slice(0, maxShownLength)}… (${text.length} characters; --json shows all)`
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
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += characterWidth(character)
  return width
}

/** Clean text cut to so many columns, with an ellipsis where something is missing. */
export function fitWidth(text: string, columns: number): string {
  if (columns <= 0) return ''
  if (displayWidth(text) <= columns) return text
  let kept = ''
  let width = 0
  for (const character of text) {
    width += characterWidth(character)
    if (width > columns - 1) break
    kept += character
  }
  return `${kept}…`
}

/** Filled with spaces to so many columns. */
export function padWidth(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)))
}

function characterWidth(character: string): number {
  if (combining.test(character)) return 0
  return wide.test(character) ? 2 : 1
}
