// The content of a task's file: the board's values, and where they are unchanged, those of the imported file. For exports without the
// engine's keys, for mirrors with them.
import type { BoardTask, ImportedFile } from '../../entities/board.ts'
import { engineKeys, furtherKeys, plainTask, sevenKeys } from '../task-json.ts'
import { type FileValue, isSameJson } from './task-file.ts'

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
