// What a file that is not as the mirror left it amounts to: an edit, a new task, an old text that git has brought back, or nothing
// that can be read. Judged by the texts that the ledger keeps of it.
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
  /** It says what this mirror has said, now or earlier. */
  | { kind: 'ours' }
  | { kind: 'edit'; edit: FileEdit; version: number }
  | { kind: 'new'; file: NewFile }
  /** The task is no longer on the board; `ours`: the file says nothing else than that it was. */
  | { kind: 'gone'; ours: boolean; why: string }
  /** An edit that cannot be told from what happened meanwhile. */
  | { kind: 'refused'; why: string }
  /** Not to be touched: it cannot be read, or it is another ledger's. */
  | { kind: 'foreign'; why: string }

interface Facts {
  texts: Array<{ version: number; text: string }>
  /** Undefined when it is not on the board. */
  task: Exported | undefined
  nextNumber: number
}

/** `earlier`: the latest edit of this file that was taken, and the version that it was made from. */
export async function judgeFile(
  host: MirrorHost,
  place: BoardTarget,
  dir: string,
  number: number,
  text: string,
  earlier: { version: number; value: FileValue } | undefined,
): Promise<FileVerdict> {
  const facts = await host.read((tx) => factsOf(tx, place, dir, number))
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
  if (facts.task === undefined) return judgeStranger({ number, text, value, newline }, facts, place, known)
  const foreign = foreignWhy(number, value, facts.task)
  if (foreign !== undefined) return { kind: 'foreign', why: foreign }
  const base = baseOf(value, facts)
  if (base === undefined) return judgeFirstMeeting(value, facts.texts, facts.task)
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

/** A file under a number that no task on the board has. */
function judgeStranger(
  file: NewFile,
  { texts, nextNumber }: Facts,
  { board }: BoardTarget,
  known: boolean,
): FileVerdict {
  const { number, value } = file
  if (number >= nextNumber) {
    const { taskId } = value
    if (typeof taskId !== 'string' || versionIn(value) === undefined) return { kind: 'new', file }
    const why = `it was written by the mirror of another ledger (its task is ${taskId}): import the folder it comes from, or take out taskId and version to make a new task of it`
    return { kind: 'foreign', why }
  }
  const ours = known || texts.some((each) => isSameJson(jsonOf(each.text), value))
  const why = texts.length > 0 ? `task ${number} is no longer on the board` : takenWhy(board, number, nextNumber)
  return { kind: 'gone', ours, why }
}

/** A mirror's file under the number of another task. What one's own ledger wrote is only ever that task's. */
function foreignWhy(number: number, value: FileValue, { value: exported, taskId }: Exported): string | undefined {
  if (typeof value.taskId !== 'string' || value.taskId === taskId) return undefined
  if (isSameJson(withoutEngineKeys(value), exported)) return undefined
  return `its task is ${value.taskId}, and here task ${number} is ${taskId}: it belongs to another ledger`
}

function withoutEngineKeys(value: FileValue): FileValue {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !engineKeys.includes(key)))
}

/** The text that a file was made from; the newest where it does not say. */
function baseOf(value: FileValue, { texts }: Facts): { version: number; value: FileValue } | undefined {
  const version = versionIn(value)
  const text = version === undefined ? texts[0] : texts.find((each) => each.version === version)
  return text === undefined ? undefined : { version: text.version, value: jsonOf(text.text) }
}

/** A file of a known task that says nothing of a text that is kept. */
function judgeFirstMeeting(value: FileValue, texts: Facts['texts'], task: Exported): FileVerdict {
  const isKept = texts.some((each) => isSameJson(jsonOf(each.text), value))
  if (isKept || isSameJson(withoutEngineKeys(value), task.value)) return { kind: 'ours' }
  const version = versionIn(value)
  const [newest] = texts
  if (newest === undefined || version === undefined) {
    const why =
      'nobody knows what it was made from: this mirror has never written it. Say it again in the file as it stands now'
    return { kind: 'refused', why }
  }
  const why =
    version > newest.version
      ? `it says version ${version}, and the latest is ${newest.version}`
      : `version ${version}, from which it was made, is too old to be known (the latest is ${newest.version}). Say it again in the file as it stands now`
  return { kind: 'refused', why }
}

function jsonOf(text: string): FileValue {
  return JSON.parse(text.replace(/^\uFEFF/, '')) as FileValue
}
