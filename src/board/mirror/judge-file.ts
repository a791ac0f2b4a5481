// Classifies a file that differs from what the mirror wrote: an edit, a new task, an old text restored by git, or unreadable. It is
// compared with the texts that the ledger keeps of the file.
import { ErrandError } from '../../core/errors.ts'
import type { BoardTarget } from '../board-host.ts'
import { loadBoard } from '../numbering.ts'
import { changedKeys, type FileEdit } from './file-edit.ts'
import { type Exported, exportedTask, keptTexts } from './file-texts.ts'
import { type NewFile, takenWhy } from './import-files.ts'
import type { MirrorHost } from './mirror-host.ts'
import { type FileValue, isSameJson, readTaskFile, versionIn } from './task-file.ts'

export type FileVerdict =
  /** A text that this mirror has written, now or earlier. */
  | { kind: 'ours' }
  | { kind: 'edit'; edit: FileEdit; version: number }
  | { kind: 'new'; file: NewFile }
  /** The task is no longer on the board; `ours`: the file has not been edited. */
  | { kind: 'deleted'; ours: boolean; why: string }
  /** An edit that cannot be separated from what changed meanwhile. */
  | { kind: 'refused'; why: string }
  /** Left untouched: the file cannot be read, or belongs to another ledger; `holdsNumber`: no task here may get its number. */
  | { kind: 'foreign'; why: string; holdsNumber?: true }

interface Facts {
  texts: Array<{ version: number; text: string }>
  nextNumber: number
}

/** `earlier`: the latest applied edit of this file, and the version from which it was made. */
export async function judgeFile(
  host: MirrorHost,
  target: BoardTarget,
  dir: string,
  number: number,
  text: string,
  earlier: { version: number; value: FileValue } | undefined,
): Promise<FileVerdict> {
  const { task, ...facts } = await host.read(function* (tx) {
    const texts = yield* tx.mirror.texts(dir, number, keptTexts)
    const { nextNumber } = yield* loadBoard(tx, target.board, 0)
    // Undefined if there is no task of this number on the board.
    return { texts, nextNumber, task: yield* exportedTask(tx, target.board, number) }
  })
  if (task !== undefined && facts.texts.some((each) => each.text === text)) return { kind: 'ours' }
  let file: NewFile
  try {
    file = { number, text, ...readTaskFile(text, number) }
  } catch (error) {
    if (ErrandError.isInstance(error)) return { kind: 'foreign', why: error.message }
    throw error
  }
  return task === undefined ? judgeUnknownNumber(file, facts, target) : judgeKnownNumber(file, facts, task, earlier)
}

/** Judges a file whose number has no task on the board. */
function judgeUnknownNumber(file: NewFile, { texts, nextNumber }: Facts, { board }: BoardTarget): FileVerdict {
  const { number, value } = file
  if (number < nextNumber) {
    const ours = texts.some((each) => isSameJson(jsonOf(each.text), value))
    const why = texts.length > 0 ? `task ${number} is no longer on the board` : takenWhy(board, number, nextNumber)
    return { kind: 'deleted', ours, why }
  }
  const isForeign = typeof value.taskId === 'string' && versionIn(value) !== undefined
  // A board that never had a task adopts such files: the folder was cloned, or its ledger was lost.
  if (!isForeign || nextNumber === 1) return { kind: 'new', file }
  const why = `it was written by the mirror of another ledger (its task is ${value.taskId}), and only a board that never had a task adopts such files. To create a task from it, remove taskId and version, and give the file (in its name and its id) a number that no file here has`
  return { kind: 'foreign', why, holdsNumber: true }
}

/** Judges a file of a task that is on the board. */
function judgeKnownNumber(
  { number, value }: NewFile,
  { texts }: Facts,
  task: Exported,
  earlier: { version: number; value: FileValue } | undefined,
): FileVerdict {
  const { version: _version, taskId, canonicalStatus: _status, statusReason: _reason, ...plain } = value
  const isAsOnBoard = isSameJson(plain, task.value)
  if (typeof taskId === 'string' && taskId !== task.taskId && !isAsOnBoard)
    return {
      kind: 'foreign',
      why: `its task is ${taskId}, and here task ${number} is ${task.taskId}: it belongs to another ledger`,
    }
  const version = versionIn(value)
  // A file without a version is compared with the newest text.
  const base = texts.find((each) => version === undefined || each.version === version)
  if (base === undefined) {
    if (isAsOnBoard) return { kind: 'ours' }
    const latest = texts[0]?.version ?? 'none'
    const why = `its base, version ${version ?? 'unknown'}, is not kept or was never written (the latest is ${latest}). Repeat the edit in the current file`
    return { kind: 'refused', why }
  }
  const content = jsonOf(base.text)
  const changed = changedKeys(content, value)
  if (changed.length === 0) return { kind: 'ours' }
  const before = earlier?.version === base.version ? earlier.value : undefined
  return { kind: 'edit', edit: { number, base: content, edited: value, changed, before }, version: base.version }
}

function jsonOf(text: string): FileValue {
  return JSON.parse(text.replace(/^\uFEFF/, '')) as FileValue
}
