// Judges a file that differs from what the mirror wrote: it is an edit, a new task, an old text restored by git, or unreadable. The ledger
// keeps the texts of each file, and an edit is the difference between a file and the text from which it was made. It is applied to the
// board in one step, judged like any command, all or nothing.
import { ErrandError } from '../../core/errors.ts'
import { clipped } from '../../core/storable-text.ts'
import type { BoardRef, BoardStatus } from '../../entities/board.ts'
import type { Op, Step } from '../../ledger/ledger.ts'
import type { StepContext } from '../../operations/steps/step-context.ts'
import type { BoardTarget } from '../board-host.ts'
import type { BoardPatch, Writer } from '../board-patch.ts'
import { viewTask } from '../board-view.ts'
import { withNumbers } from '../ids-as-numbers.ts'
import { loadBoard } from '../numbering.ts'
import { engineKeys, sevenKeys } from '../task-json.ts'
import { findOnBoard } from '../task-ref.ts'
import { applyPatch } from '../update-task.ts'
import { type Exported, exportedTask, keptTexts } from './file-texts.ts'
import { parseEdited } from './held-keys.ts'
import { type NewFile, takenWhy } from './import-files.ts'
import type { MirrorHost } from './mirror-host.ts'
import { type FileValue, isKnownKey, isSameJson, mirroredValue, readTaskFile, versionIn } from './task-file.ts'

export interface FileEdit {
  number: number
  /** The content from which the edit was made. */
  base: FileValue
  edited: FileValue
  /** Keys that were changed or removed. */
  changed: string[]
  /** The previous edit of the same content, already applied: its values are not a conflict, because they come from the same author. */
  before: FileValue | undefined
}

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
  const { taskId } = value
  const isForeign = typeof taskId === 'string' && versionIn(value) !== undefined
  // A board that never had a task adopts such files: the folder was cloned, or its ledger was lost.
  if (!isForeign || nextNumber === 1) return { kind: 'new', file }
  const why = `it was written by the mirror of another ledger (its task is ${taskId}), and only a board that never had a task adopts such files. To create a task from it, remove taskId and version, and give the file (in its name and its id) a number that no file here has`
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

/**
 * Returns the keys in which a file differs from its base. A missing key counts as removed only if the file still has its `version`;
 * a program that drops that key drops all unknown keys. The seven keys and the engine's keys are never removed.
 */
function changedKeys(base: FileValue, edited: FileValue): string[] {
  return unionOfKeys(base, edited).filter((key) => {
    if (key === 'id' || key === 'version') return false
    if (!(key in edited) && (versionIn(edited) === undefined || sevenKeys.includes(key) || engineKeys.includes(key)))
      return false
    return !isSameJson(base[key], edited[key])
  })
}

/** @throws ErrandError, with nothing changed. */
export function applyEdit(target: BoardTarget, edit: FileEdit, ctx: StepContext): Step<void> {
  return {
    name: 'apply file edit',
    *decide(tx): Op<void> {
      const { task, entry } = yield* findOnBoard(tx, target, edit.number)
      const { file, extra = {} } = entry?.fields ?? {}
      const now = mirroredValue(yield* viewTask(tx, target.board, task, entry), file, 0)
      const { patch, writer } = patchOf(edit, now, extra)
      const change = applyPatch(tx, { target, ref: edit.number, patch, writer, ctx })
      yield* withNumbers(tx, target.board, change)
    },
  }
}

/**
 * Returns the changes of the board that an edit requests, given the task as it is now.
 * @throws ErrandError INVALID_INPUT for invalid values, for keys that only the engine writes, and for another parent; KEY_CONFLICT for
 *   a key that the board has changed since.
 */
function patchOf(edit: FileEdit, now: FileValue, extra: FileValue): { patch: BoardPatch; writer: Writer } {
  const { base, edited, changed } = edit
  refuseEngineKeys(edit)
  refuseConflicts(edit, now)
  const known = Object.fromEntries(changed.filter(isKnownKey).map((key) => [key, edited[key] ?? null]))
  const { blockedBy, blocks, parent, priority, tags, metadata, ...plain } = parseEdited(known)
  if ('parent' in known)
    throw refusal(`a file cannot move a task: its parent is ${shown(base.parent)}, not ${shown(parent)}`)
  const patch: BoardPatch = {
    ...plain,
    ...('priority' in known ? { priority: priority ?? 0 } : {}),
    ...('tags' in known ? { tags: tags ?? [] } : {}),
    ...('metadata' in known ? { metadata: changesOf(recordOf(base.metadata), metadata ?? {}) } : {}),
    ...deltas(base.blockedBy, blockedBy, 'addBlockedBy', 'removeBlockedBy'),
    ...deltas(base.blocks, blocks, 'addBlocks', 'removeBlocks'),
    ...(changed.every(isKnownKey) ? {} : { extra: merged(extra, edit) }),
  }
  return { patch, writer: writerOf(edit, plain.status) }
}

function refuseEngineKeys({ changed, base, edited }: FileEdit): void {
  const key = changed.find((each) => engineKeys.includes(each))
  if (key === undefined) return
  const advice = key === 'taskId' ? '' : '. Change `status` instead'
  throw refusal(`${key} is ${shown(base[key])} and not ${shown(edited[key])}: only the engine writes it${advice}`)
}

/** Edges and statuses are not compared: they are applied as changes, by the rules of the board. */
const judgedByBoard = ['blockedBy', 'blocks', 'status']

function refuseConflicts({ base, edited, changed, before }: FileEdit, now: FileValue): void {
  // A status changes the owner as well; whether that is allowed is judged by the board.
  const exempt = changed.includes('status') ? [...judgedByBoard, 'owner'] : judgedByBoard
  const compared = changed.filter((key) => !exempt.includes(key))
  const [from, to, is, was] = [base, edited, now, before ?? {}].map((value) => withMetadataKeys(value, compared)) as [
    FileValue,
    FileValue,
    FileValue,
    FileValue,
  ]
  for (const key of unionOfKeys(from, to)) {
    const given = [from[key], to[key], ...(before === undefined ? [] : [was[key]])]
    if (isSameJson(from[key], to[key]) || given.some((each) => isSameJson(is[key], each))) continue
    if (isEmpty(is[key]) && given.some(isEmpty)) continue
    const why = `${key} was ${shown(from[key])} when the edit was made, and the board has changed it to ${shown(is[key])} since. If ${shown(to[key])} is still right, edit the current file again`
    throw new ErrandError('KEY_CONFLICT', why, { key })
  }
}

/** Some values of a file, with those of its metadata beside them, because these are compared one by one. */
function withMetadataKeys(value: FileValue, keys: readonly string[]): FileValue {
  const some = keys.flatMap((key): Array<[string, unknown]> => {
    if (key !== 'metadata') return key in value ? [[key, value[key]]] : []
    return Object.entries(recordOf(value.metadata)).map(([inner, each]) => [`metadata.${inner}`, each])
  })
  return Object.fromEntries(some)
}

function unionOfKeys(a: FileValue, b: FileValue): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])]
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** The keys that were set or changed; null for removed ones. */
function changesOf(from: FileValue, to: FileValue): FileValue {
  const keys = unionOfKeys(from, to).filter((key) => !isSameJson(from[key], to[key]))
  return Object.fromEntries(keys.map((key) => [key, to[key] ?? null]))
}

function recordOf(value: unknown): FileValue {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as FileValue) : {}
}

function deltas(base: unknown, edited: readonly BoardRef[] | undefined, add: string, remove: string): BoardPatch {
  if (edited === undefined) return {}
  const before = (Array.isArray(base) ? base : []) as BoardRef[]
  const added = edited.filter((ref) => !before.includes(ref))
  const removed = before.filter((ref) => !edited.includes(ref))
  return { ...(added.length > 0 ? { [add]: added } : {}), ...(removed.length > 0 ? { [remove]: removed } : {}) }
}

/** The stored unknown keys with the changes of the edit. */
function merged(extra: FileValue, { changed, edited }: FileEdit): FileValue {
  const unknown = changed.filter((key) => !isKnownKey(key))
  const kept = Object.entries(extra).filter(([key]) => !unknown.includes(key))
  return Object.fromEntries([...kept, ...unknown.filter((key) => key in edited).map((key) => [key, edited[key]])])
}

/** An edit has no writer unless the file names an owner: then that owner claims, completes, fails or releases the task. */
function writerOf({ base, edited }: FileEdit, status: BoardStatus | undefined): Writer {
  const named = [edited.owner, ...(status === 'pending' ? [base.owner] : [])]
  const as = named.map((owner) => (typeof owner === 'string' ? owner.trim() : '')).find((owner) => owner !== '')
  return as === undefined || status === undefined || status === 'deleted'
    ? { source: 'files' }
    : { source: 'files', as }
}

function refusal(why: string): ErrandError {
  return new ErrandError('INVALID_INPUT', why, {})
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? 'nothing')
  return clipped(text, 60)
}
