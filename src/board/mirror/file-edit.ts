// Edits: what a program or person changed in a file, compared to what the mirror had written. Pure; the step that applies an edit
// judges whether it is allowed.

import { ErrandError } from '../../core/errors.ts'
import { clipped } from '../../core/storable-text.ts'
import type { BoardRef, BoardStatus } from '../../entities/board.ts'
import type { BoardPatch, Writer } from '../board-patch.ts'
import { engineKeys, sevenKeys } from '../task-json.ts'
import { isKnownKey } from './file-image.ts'
import { parseEdited } from './held-keys.ts'
import { type FileValue, isSameJson } from './task-file.ts'

export interface FileEdit {
  number: number
  /** The content from which the edit was made. */
  base: FileValue
  edited: FileValue
  /** Keys that were changed or removed. */
  changed: string[]
  newline: boolean
  /** The previous edit of the same content, already applied: its values are not a conflict, because they come from the same author. */
  before: FileValue | undefined
}

/**
 * Returns the keys in which a file differs from its base. A missing key counts as removed only if the file still has its `version`;
 * a program that drops that key drops all unknown keys. The seven keys and the engine's keys are never removed.
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
 * Returns the changes of the board that an edit requests, given the task as it is now.
 * @throws ErrandError INVALID_INPUT for invalid values, for keys that only the engine writes, and for another parent; KEY_CONFLICT for
 *   a key that the board has changed since.
 */
export function patchOf(edit: FileEdit, now: FileValue, extra: FileValue): { patch: BoardPatch; writer: Writer } {
  refuseEngineKeys(edit)
  refuseConflicts(edit, now)
  const { base, changed } = edit
  const known = Object.fromEntries(changed.filter(isKnownKey).map((key) => [key, edit.edited[key] ?? null]))
  const values = parseEdited(known)
  const { blockedBy, blocks, parent, priority, tags, metadata, ...plain } = values
  if ('parent' in known)
    throw refusal(`a file cannot move a task: its parent is ${shown(base.parent)}, not ${shown(parent)}`)
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

/** Lists, statuses and metadata are not compared as a whole: they are applied as changes, by the rules of the board. */
const judgedElsewhere = new Set(['blockedBy', 'blocks', 'status', 'metadata', ...engineKeys])

function refuseConflicts({ base, edited, changed, before }: FileEdit, now: FileValue): void {
  for (const key of changed) {
    // A status changes the owner as well; whether that is allowed is judged by the board.
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
  if (isEmpty(now) && [base, edited].some(isEmpty)) return
  throw new ErrandError(
    'KEY_CONFLICT',
    `${key} was ${shown(base)} when the edit was made, and the board has changed it to ${shown(now)} since. If ${shown(edited)} is still right, edit the current file again`,
    { key },
  )
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** The keys that were set or changed; null for removed ones. */
function changesOf(base: unknown, edited: Record<string, unknown> | null | undefined): Record<string, unknown> {
  const [from, to] = [recordOf(base), recordOf(edited)]
  const removed = Object.keys(from).filter((key) => !(key in to))
  const set = Object.entries(to).filter(([key, value]) => !isSameJson(from[key], value))
  return Object.fromEntries([...removed.map((key) => [key, null]), ...set])
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
  const next = { ...extra }
  for (const key of changed) {
    if (isKnownKey(key)) continue
    if (key in edited) next[key] = edited[key]
    else delete next[key]
  }
  return next
}

/** An edit has no writer unless the file names an owner: then that owner claims, completes, fails or releases the task. */
function writerOf({ base, edited }: FileEdit, status: BoardStatus | undefined): Writer {
  const unnamed: Writer = { source: 'files' }
  if (status === undefined || status === 'deleted') return unnamed
  const name = nameIn(edited.owner) ?? (status === 'pending' ? nameIn(base.owner) : undefined)
  return name === undefined ? unnamed : { ...unnamed, as: name }
}

function nameIn(owner: unknown): string | undefined {
  return typeof owner === 'string' && owner.trim() !== '' ? owner.trim() : undefined
}

function refusal(why: string): ErrandError {
  return new ErrandError('INVALID_INPUT', why, {})
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? 'nothing')
  return clipped(text, 60)
}
