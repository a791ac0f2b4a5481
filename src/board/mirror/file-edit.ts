// An edit: what a program or a person changed in a file, told from what the mirror had written there. Pure; whether the change may
// be made is judged by the step that makes it.

import { ErrandError } from '../../core/errors.ts'
import type { BoardRef, BoardStatus } from '../../entities/board.ts'
import { engineKeys, sevenKeys } from '../task-json.ts'
import type { BoardPatch, Writer } from '../update-task.ts'
import { isKnownKey } from './file-image.ts'
import { parseEdited } from './held-keys.ts'
import { type FileValue, isSameJson } from './task-file.ts'

export interface FileEdit {
  number: number
  /** The text that it was made from. */
  base: FileValue
  edited: FileValue
  /** Keys whose value is another, or gone. */
  changed: string[]
  newline: boolean
  /** What an edit of the same text, already taken, has made of some keys: no conflict with this one, which comes from the same hand. */
  before: FileValue | undefined
}

/**
 * The keys in which a file differs from what it was made from. A missing key was taken out on purpose where the file still says
 * its `version`; a program that leaves that out leaves out whatever it has no word for. The seven keys and the engine's are never
 * taken out.
 */
export function changedKeys(base: FileValue, edited: FileValue, versioned: boolean): string[] {
  const keys = new Set([...Object.keys(base), ...Object.keys(edited)])
  return [...keys].filter((key) => {
    if (key === 'id') return false
    if (!(key in edited) && (!versioned || sevenKeys.includes(key) || engineKeys.includes(key))) return false
    return !isSameJson(base[key], edited[key])
  })
}

/**
 * What the edit asks of the board, as the task is shown now.
 * @throws ErrandError INVALID_INPUT for values that cannot be, for keys that only the engine writes, for a task that would move;
 *   KEY_CONFLICT for a key that the board has changed since, too.
 */
export function patchOf(edit: FileEdit, now: FileValue, extra: FileValue): { patch: BoardPatch; writer: Writer } {
  refuseEngineKeys(edit)
  refuseConflicts(edit, now)
  const { base, changed } = edit
  const known = Object.fromEntries(changed.filter(isKnownKey).map((key) => [key, edit.edited[key] ?? null]))
  const values = parseEdited(known)
  const { blockedBy, blocks, parent, priority, tags, metadata, ...plain } = values
  if ('parent' in known)
    throw refusal(`a file does not move a task: its parent is ${shown(base.parent)}, not ${shown(parent)}`)
  const patch: BoardPatch = {
    ...plain,
    ...('priority' in known ? { priority: priority ?? 0 } : {}),
    ...('tags' in known ? { tags: tags ?? [] } : {}),
    ...('metadata' in known ? { metadata: changesOf(base.metadata, metadata) } : {}),
    ...deltas(base.blockedBy, blockedBy, 'addBlockedBy', 'removeBlockedBy'),
    ...deltas(base.blocks, blocks, 'addBlocks', 'removeBlocks'),
    ...(changed.every(isKnownKey) ? {} : { extra: merged(extra, edit) }),
  }
  return { patch, writer: writerOf(edit, values.status) }
}

function refuseEngineKeys({ changed, base, edited }: FileEdit): void {
  const key = changed.find((each) => engineKeys.includes(each) && each !== 'version')
  if (key === undefined) return
  throw refusal(
    `${key} is ${shown(base[key])} and not ${shown(edited[key])}: only the engine writes it${key === 'taskId' ? '' : '. Change `status` instead'}`,
  )
}

/** Lists and states are not compared: they change by what was added and taken away, and by the rules of the board. */
const judgedElsewhere = new Set(['blockedBy', 'blocks', 'status', 'metadata', ...engineKeys])

function refuseConflicts({ base, edited, changed, before }: FileEdit, now: FileValue): void {
  for (const key of changed) {
    // With a state goes its owner: whether that one may, the board says.
    if (judgedElsewhere.has(key) || (key === 'owner' && changed.includes('status'))) continue
    refuseConflict(key, { base: base[key], edited: edited[key], now: now[key], before: before?.[key] })
  }
  if (!changed.includes('metadata')) return
  const [from, to, is, was] = [base.metadata, edited.metadata, now.metadata, before?.metadata].map(recordOf) as [
    FileValue,
    FileValue,
    FileValue,
    FileValue,
  ]
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    if (isSameJson(from[key], to[key])) continue
    refuseConflict(`metadata.${key}`, { base: from[key], edited: to[key], now: is[key], before: was[key] })
  }
}

function refuseConflict(
  key: string,
  { base, edited, now, before }: Record<'base' | 'edited' | 'now' | 'before', unknown>,
): void {
  if ([base, edited].some((each) => isSameJson(now, each)) || (before !== undefined && isSameJson(now, before))) return
  if (isNothing(now) && [base, edited].some(isNothing)) return
  throw new ErrandError(
    'KEY_CONFLICT',
    `${key} was ${shown(base)} in the text that the edit was made from, and has become ${shown(now)} on the board since: say ${shown(edited)} again in the file as it stands now, if it is still meant`,
    { key },
  )
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** Keys that were set or changed; null for those that are gone. */
function changesOf(base: unknown, edited: Record<string, unknown> | null | undefined): Record<string, unknown> {
  const [from, to] = [recordOf(base), recordOf(edited)]
  const gone = Object.keys(from).filter((key) => !(key in to))
  const set = Object.entries(to).filter(([key, value]) => !isSameJson(from[key], value))
  return Object.fromEntries([...gone.map((key) => [key, null]), ...set])
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

/** The foreign keys as they are kept now, with what the edit changes of them. */
function merged(extra: FileValue, { changed, edited }: FileEdit): FileValue {
  const next = { ...extra }
  for (const key of changed) {
    if (isKnownKey(key)) continue
    if (key in edited) next[key] = edited[key]
    else delete next[key]
  }
  return next
}

/** A file speaks in nobody's name, unless it says who works: then that one claims, completes, fails, or lets go. */
function writerOf({ base, edited }: FileEdit, status: BoardStatus | undefined): Writer {
  const nobody: Writer = { source: 'files' }
  if (status === undefined || status === 'deleted') return nobody
  const name = nameIn(edited.owner) ?? (status === 'pending' ? nameIn(base.owner) : undefined)
  return name === undefined ? nobody : { ...nobody, as: name }
}

function nameIn(owner: unknown): string | undefined {
  return typeof owner === 'string' && owner.trim() !== '' ? owner.trim() : undefined
}

function refusal(why: string): ErrandError {
  return new ErrandError('INVALID_INPUT', why, {})
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? 'nothing')
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
