// Classifies a file that differs from what the mirror wrote: an edit, a new task, an old text restored by git, or unreadable. It is
// compared with the texts that the ledger keeps of the file.
import { ErrandError } from '../../core/errors.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import type { BoardTarget } from '../board-host.ts'
import { loadBoard } from '../numbering.ts'
import { engineKeys } from '../task-json.ts'
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
  /** Undefined if there is no task of this number on the board. */
  task: Exported | undefined
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
  const facts = await host.read((tx) => factsOf(tx, target, dir, number))
  const known = facts.texts.some((each) => each.text === text)
  if (known && facts.task !== undefined) return { kind: 'ours' }
  let value: FileValue
  let newline: boolean
  try {
    ;({ value, newline } = readTaskFile(text, number))
  } catch (error) {
    if (ErrandError.isInstance(error)) return { kind: 'foreign', why: error.message }
    throw error
  }
  if (facts.task === undefined) return judgeUnknownNumber({ number, text, value, newline }, facts, target, known)
  const foreign = foreignWhy(number, value, facts.task)
  if (foreign !== undefined) return { kind: 'foreign', why: foreign }
  const base = baseOf(value, facts)
  if (base === undefined) return judgeWithoutBase(value, facts.texts, facts.task)
  const versioned = versionIn(value) !== undefined
  const changed = changedKeys(base.value, value, versioned).filter((key) => key !== 'version')
  if (changed.length === 0 && newline === (facts.task.file?.newline ?? false)) return { kind: 'ours' }
  const before = earlier?.version === base.version ? earlier.value : undefined
  const edit: FileEdit = { number, base: base.value, edited: value, changed, newline, before }
  return { kind: 'edit', edit, version: base.version }
}

function* factsOf(tx: Reads, { board }: BoardTarget, dir: string, number: number): Op<Facts> {
  const texts = yield* tx.mirror.texts(dir, number, keptTexts)
  const { nextNumber } = yield* loadBoard(tx, board, 0)
  return { texts, task: yield* exportedTask(tx, board, number), nextNumber }
}

/** Judges a file whose number has no task on the board. */
function judgeUnknownNumber(
  file: NewFile,
  { texts, nextNumber }: Facts,
  { board }: BoardTarget,
  known: boolean,
): FileVerdict {
  const { number, value } = file
  if (number >= nextNumber) {
    const { taskId } = value
    const isForeign = typeof taskId === 'string' && versionIn(value) !== undefined
    // A board that never had a task adopts such files: the folder was cloned, or its ledger was lost.
    if (!isForeign || nextNumber === 1) return { kind: 'new', file }
    const why = `it was written by the mirror of another ledger (its task is ${taskId}), and only a board that never had a task adopts such files. To create a task from it, remove taskId and version, and give the file (in its name and its id) a number that no file here has`
    return { kind: 'foreign', why, holdsNumber: true }
  }
  const ours = known || texts.some((each) => isSameJson(jsonOf(each.text), value))
  const why = texts.length > 0 ? `task ${number} is no longer on the board` : takenWhy(board, number, nextNumber)
  return { kind: 'deleted', ours, why }
}

/** Why a file belongs to another ledger. A file that equals the export of the task is accepted whatever id it has. */
function foreignWhy(number: number, value: FileValue, { value: exported, taskId }: Exported): string | undefined {
  if (typeof value.taskId !== 'string' || value.taskId === taskId) return undefined
  if (isSameJson(withoutEngineKeys(value), exported)) return undefined
  return `its task is ${value.taskId}, and here task ${number} is ${taskId}: it belongs to another ledger`
}

function withoutEngineKeys(value: FileValue): FileValue {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !engineKeys.includes(key)))
}

/** The text from which a file was made; the newest one if the file does not name a version. */
function baseOf(value: FileValue, { texts }: Facts): { version: number; value: FileValue } | undefined {
  const version = versionIn(value)
  const text = version === undefined ? texts[0] : texts.find((each) => each.version === version)
  return text === undefined ? undefined : { version: text.version, value: jsonOf(text.text) }
}

/** Judges a file of an existing task whose base text is not known. */
function judgeWithoutBase(value: FileValue, texts: Facts['texts'], task: Exported): FileVerdict {
  const isKept = texts.some((each) => isSameJson(jsonOf(each.text), value))
  if (isKept || isSameJson(withoutEngineKeys(value), task.value)) return { kind: 'ours' }
  const version = versionIn(value)
  const [newest] = texts
  if (newest === undefined || version === undefined) {
    const why = 'its base is unknown: this mirror has never written this file. Repeat the edit in the current file'
    return { kind: 'refused', why }
  }
  const why =
    version > newest.version
      ? `it has version ${version}, but the latest is ${newest.version}`
      : `its base, version ${version}, is no longer kept (the latest is ${newest.version}). Repeat the edit in the current file`
  return { kind: 'refused', why }
}

function jsonOf(text: string): FileValue {
  return JSON.parse(text.replace(/^\uFEFF/, '')) as FileValue
}
