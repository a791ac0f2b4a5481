// The file of a task: its name, and its text, which becomes a JSON object that may be trusted, and back. What its keys mean is judged
// elsewhere.
import { ErrandError } from '../../core/errors.ts'
import { canonicalJson, toJson } from '../../core/json.ts'
import { jsonText } from '../task-json.ts'

// Names: only what has exactly this form is ever read or written; no path, no other extension.

/** Numbers that a file may make a task of; a mistaken `task_999999999999.json` must not use up all numbers below it. */
export const maxNewNumber = 1_000_000_000

const pattern = /^task_([1-9]\d{0,14})\.json$/

export function nameOf(number: number): string {
  return `task_${number}.json`
}

/** The number in a name; undefined for any other file. */
export function numberIn(name: string): number | undefined {
  const match = pattern.exec(name)
  return match === null ? undefined : Number(match[1])
}

/** Other boards leave the word out: read by an import, never by a mirror. */
export function bareNumberIn(name: string): number | undefined {
  return /^[1-9]\d{0,14}\.json$/.test(name) ? Number.parseInt(name, 10) : undefined
}

/** Looks as if it was meant for one, and is none: reported, so that nobody waits for it. */
export function isNearlyOne(name: string): boolean {
  return name.startsWith('task_') && name.endsWith('.json') && numberIn(name) === undefined
}

/** The JSON object of a file, as it stands there. */
export type FileValue = Record<string, unknown>

export interface ReadableFile {
  value: FileValue
  /** Does its text end with a line break? What had one keeps it. */
  newline: boolean
}

/**
 * @throws ErrandError INVALID_INPUT for a text that is no JSON object, that no ledger keeps as it is (NUL, prototype keys, too deep,
 *   numbers that lose digits), or whose id is not the number in the name of its file.
 */
export function readTaskFile(text: string, number: number): ReadableFile {
  const value = parseObject(text)
  toJson(value, 'it')
  const { id } = value
  if (id !== undefined && id !== number && id !== String(number)) {
    throw unreadable(`its id is ${JSON.stringify(id)?.slice(0, 60)}, and its name says ${number}`)
  }
  return { value, newline: /\n\s*$/.test(text) }
}

function parseObject(text: string): FileValue {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''), exactNumber)
  } catch (error) {
    if (ErrandError.isInstance(error)) throw error
    throw unreadable(`it is no JSON (${error instanceof Error ? error.message : String(error)})`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as FileValue
  throw unreadable('it is no JSON object')
}

/** JavaScript rounds long integers; who wrote one means every digit of it, unless JavaScript itself writes it so. */
function exactNumber(_key: string, value: unknown, { source = '' }: { source?: string } = {}): unknown {
  if (typeof value !== 'number') return value
  const isRounded = /^-?\d+$/.test(source) && String(value) !== source && BigInt(source) !== BigInt(value)
  if (Number.isFinite(value) && !isRounded) return value
  throw unreadable(`it has a number that cannot be kept exactly (${source.slice(0, 40)}); write it as text`)
}

function unreadable(why: string): ErrandError {
  return new ErrandError('INVALID_INPUT', why, {})
}

/** Two spaces, and a line break at the end where the file is to have one. */
export function fileText(value: FileValue, newline: boolean): string {
  return `${jsonText(value)}${newline ? '\n' : ''}`
}

/** Equal as JSON: the order of keys says nothing, that of lists does. An absent value is equal to none but an absent one. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined) return false
  return canonicalJson(a) === canonicalJson(b)
}

/** The version that a file says it was made from. */
export function versionIn(value: FileValue): number | undefined {
  const { version } = value
  return typeof version === 'number' && Number.isSafeInteger(version) && version >= 1 ? version : undefined
}
