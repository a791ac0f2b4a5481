// A task as its file shows it: the board's own words, and what an imported file said otherwise. Both ways of showing it are here,
// the plain one for export and the one with the engine's keys for a mirror.
import type { BoardTask, ImportedFile } from '../../entities/board.ts'
import { engineKeys, furtherKeys, plainTask, sevenKeys } from '../task-json.ts'
import { type FileValue, isSameJson } from './task-file.ts'

const boardKeys = new Set([...sevenKeys, ...furtherKeys])
const ownKeys = new Set([...boardKeys, ...engineKeys])

/** Has the board, or the engine, a word of that name? */
export function isKnownKey(key: string): boolean {
  return ownKeys.has(key)
}

/** Keys of a file that nothing here has a word for. */
export function foreignKeysOf(value: FileValue): FileValue {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !ownKeys.has(key)))
}

/** The file as export writes it: where the board still says what it said at the import, the imported value stands. */
export function exportedValue(task: BoardTask, file: ImportedFile | undefined): FileValue {
  return inOrder(
    overlaid(plainTask(task), file, () => true),
    file?.keys,
  )
}

/** The file as a mirror writes it: of the seven keys the truth, whatever the import said. */
export function mirroredValue(task: BoardTask, file: ImportedFile | undefined, version: number): FileValue {
  const shown = overlaid(plainTask(task), file, (key) => !sevenKeys.includes(key) && !engineKeys.includes(key))
  for (const key of engineKeys) delete shown[key]
  const { canonicalStatus, statusReason, taskId } = task
  return { ...inOrder(shown, undefined), canonicalStatus, statusReason, taskId, version }
}

/** What an imported file said otherwise than the board shows it; undefined when there is nothing to remember. */
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

/** In the order of an imported file, else the board's own keys first. */
function inOrder(value: FileValue, keys: readonly string[] | undefined): FileValue {
  const order = [...(keys ?? []), ...boardKeys, ...Object.keys(value)]
  return Object.fromEntries([...new Set(order)].filter((key) => key in value).map((key) => [key, value[key]]))
}
