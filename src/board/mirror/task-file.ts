// Task files: their names, and the conversion between text and a checked JSON object. What the keys mean is judged elsewhere.

import { ErrandError } from '../../core/errors.ts'
import { canonicalJson, toJson } from '../../core/json.ts'
import { parseJson } from '../../core/json-text.ts'
import { startOf } from '../../core/storable-text.ts'
import { jsonText } from '../task-json.ts'

// Only names of exactly this form are read or written: no path, no other extension.

/** Largest number of a task created from a file: a mistaken `task_999999999999.json` must not use up the numbers below it. */
export const maxNewNumber = 1_000_000_000

const pattern = /^task_([1-9]\d{0,14})\.json$/

export function nameOf(number: number): string {
  return `task_${number}.json`
}

/** The number in a name; undefined for other files. */
export function numberIn(name: string): number | undefined {
  const match = pattern.exec(name)
  return match === null ? undefined : Number(match[1])
}

/** The number in a name without the prefix, as other boards use it; accepted by an import, not by a mirror. */
export function bareNumberIn(name: string): number | undefined {
  return /^[1-9]\d{0,14}\.json$/.test(name) ? Number.parseInt(name, 10) : undefined
}

/** Whether a name resembles that of a task file without being one. Such files are reported, so that they are not ignored silently. */
export function isMisnamed(name: string): boolean {
  return name.startsWith('task_') && name.endsWith('.json') && numberIn(name) === undefined
}

/** The JSON object of a file, as it stands there. */
export type FileValue = Record<string, unknown>

export interface ReadableFile {
  value: FileValue
  /** Whether the text ends with a line break, which is preserved. */
  newline: boolean
}

/**
 * Parses a task file.
 * @throws ErrandError INVALID_INPUT for a text that is not a JSON object, that the ledger cannot store exactly (NUL, too deep,
 *   numbers that lose digits), or whose id is not the number in the file name.
 */
export function readTaskFile(text: string, number: number): ReadableFile {
  const value = parseObject(text)
  toJson(value, 'it')
  const { id } = value
  if (id !== undefined && id !== number && id !== String(number)) {
    throw unreadable(
      `its id is ${startOf(JSON.stringify(id) ?? 'undefined', 60)}, but its name has the number ${number}`,
    )
  }
  return { value, newline: /\n\s*$/.test(text) }
}

function parseObject(text: string): FileValue {
  let value: unknown
  try {
    value = parseJson(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    if (ErrandError.isInstance(error)) throw error
    throw unreadable(`it is not JSON (${error instanceof Error ? error.message : String(error)})`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as FileValue
  throw unreadable('it is not a JSON object')
}

function unreadable(why: string): ErrandError {
  return new ErrandError('INVALID_INPUT', why, {})
}

/** The text of a file: two spaces, and a line break at the end if requested. */
export function fileText(value: FileValue, newline: boolean): string {
  return `${jsonText(value)}${newline ? '\n' : ''}`
}

/** Whether two values are equal as JSON: the order of keys is ignored, that of lists is not. An absent value equals only an absent one. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined) return false
  return canonicalJson(a) === canonicalJson(b)
}

/** The version from which the content of a file was made. */
export function versionIn(value: FileValue): number | undefined {
  const { version } = value
  return typeof version === 'number' && Number.isSafeInteger(version) && version >= 1 ? version : undefined
}
