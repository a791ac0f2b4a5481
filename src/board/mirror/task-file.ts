// Task files: their names, their texts as checked JSON objects, and the content that an export (without the engine's keys) or a mirror
// (with them) writes: the board's values, and where they are unchanged, those of the imported file.

import { ErrandError } from '../../core/errors.ts'
import { canonicalJson, toJson } from '../../core/json.ts'
import { parseJson } from '../../core/json-text.ts'
import { startOf } from '../../core/storable-text.ts'
import type { BoardTask, ImportedFile } from '../../entities/board.ts'
import { engineKeys, furtherKeys, jsonText, plainTask, sevenKeys } from '../task-json.ts'

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

const boardKeys = new Set([...sevenKeys, ...furtherKeys])
const ownKeys = new Set([...boardKeys, ...engineKeys])

/** Whether the key is one of the board or of the engine. */
export function isKnownKey(key: string): boolean {
  return ownKeys.has(key)
}

/** The unknown keys of a file. */
export function foreignKeysOf(value: FileValue): FileValue {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !ownKeys.has(key)))
}

/** The content that an export writes: imported values where the board has not changed them. */
export function exportedValue(task: BoardTask, file: ImportedFile | undefined): FileValue {
  return inOrder(
    overlaid(plainTask(task), file, () => true),
    file?.keys,
  )
}

/** The content that a mirror writes: the seven keys show the board's values, whatever was imported. */
export function mirroredValue(task: BoardTask, file: ImportedFile | undefined, version: number): FileValue {
  const shown = overlaid(plainTask(task), file, (key) => !sevenKeys.includes(key) && !engineKeys.includes(key))
  for (const key of engineKeys) delete shown[key]
  const { canonicalStatus, statusReason, taskId } = task
  return { ...inOrder(shown, undefined), canonicalStatus, statusReason, taskId, version }
}

/** The differences between an imported file and what the board shows; undefined when there are none. */
export function importedFile(original: FileValue, newline: boolean, task: BoardTask): ImportedFile | undefined {
  const shown = plainTask(task)
  const differs: ImportedFile['differs'] = {}
  for (const key of new Set([...Object.keys(original), ...Object.keys(shown)])) {
    if (isSameJson(original[key], shown[key])) continue
    differs[key] = {
      ...(key in original ? { was: original[key] } : {}),
      ...(key in shown ? { shown: shown[key] } : {}),
    }
  }
  const file: ImportedFile = { differs, ...(newline ? { newline } : {}) }
  const keys = Object.keys(original)
  if (Object.keys(exportedValue(task, file)).join('\n') !== keys.join('\n')) file.keys = keys
  return newline || file.keys !== undefined || Object.keys(differs).length > 0 ? file : undefined
}

function overlaid(shown: FileValue, file: ImportedFile | undefined, applies: (key: string) => boolean): FileValue {
  const value = { ...shown }
  for (const [key, differing] of Object.entries(file?.differs ?? {})) {
    if (!applies(key) || !isSameJson(shown[key], differing.shown)) continue
    if ('was' in differing) value[key] = differing.was
    else delete value[key]
  }
  return value
}

/** Keys in the order of the imported file, else the board's own first. */
function inOrder(value: FileValue, keys: readonly string[] | undefined): FileValue {
  const order = [...(keys ?? []), ...boardKeys, ...Object.keys(value)]
  return Object.fromEntries([...new Set(order)].filter((key) => key in value).map((key) => [key, value[key]]))
}
