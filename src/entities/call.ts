// The journal: everything a run asked for and what came of it. Calls are what people list; questions, waits, sleeps, spawned
// children and values are entries of the same journal, because they are found again by the same identity.
import { hash } from 'node:crypto'
import type { StoredError } from '../errors.ts'
import { canonicalJson, checkText } from '../json.ts'
import type { OnInterrupt } from './task-fields.ts'

export const callStatuses = ['pending', 'in_progress', 'completed', 'failed'] as const
export type CallStatus = (typeof callStatuses)[number]

export const callKinds = ['call', 'ask', 'wait', 'sleep', 'spawn', 'value'] as const
export type CallKind = (typeof callKinds)[number]

/** An entry of the journal. Times are epoch milliseconds. */
export interface CallRecord {
  seq: number
  id: string
  taskId: string
  /** The run that made it. */
  run: number
  attempt: number
  kind: CallKind
  name: string
  /** What it is found by, with kind, name and ordinal: the key if one was given, else the params (hashed when long). */
  ident: string
  /** n-th among equals, from 0. */
  ordinal: number
  params: unknown
  status: CallStatus
  onInterrupt: OnInterrupt
  /** The call whose function made it; null for an entry of the executor itself, and for what was made before this was recorded. */
  parentId: string | null
  /** What the call noted about itself while in progress (a process group, say); null when nothing. */
  details: unknown
  /** Null until completed. */
  result: unknown
  /** Null unless failed. */
  error: StoredError | null
  /** Messages that tell of its beginning and its end, for people; null where nobody is told. */
  startMessageId: string | null
  endMessageId: string | null
  /** When a sleep ends, or a question or wait times out; null when never. */
  dueAt: number | null
  createdAt: number
  updatedAt: number
}

/** A journaled call as `engine.calls` lists it. */
export type Call = Omit<CallRecord, 'ident' | 'ordinal' | 'kind' | 'parentId'>

export function toCall(record: CallRecord): Call {
  const { ident: _ident, ordinal: _ordinal, kind: _kind, parentId: _parent, ...call } = record
  return call
}

const longestPlainIdent = 80

/**
 * What an entry is found by: its key, else its params. Never its position alone (design section 2).
 * @throws ErrandError INVALID_INPUT for a key that would not be read back as it was: its entry would never be found again.
 */
export function identOf(key: string | undefined, params: unknown): string {
  if (key !== undefined) {
    checkText(key, 'the key of an entry')
    return key.length > longestPlainIdent ? `k#${hash('sha256', key)}` : `k:${key}`
  }
  const text = canonicalJson(params ?? null)
  return text.length > longestPlainIdent ? `p#${hash('sha256', text)}` : `p:${text}`
}

/** The call has noted a process of its own (`note({ processGroup })`): it is not closed while that lives. */
export function notesProcess(details: unknown): boolean {
  return (details as { processGroup?: unknown } | null | undefined)?.processGroup !== undefined
}

/** The error of a call that a crash found in progress: it may have happened. */
export function interruptedError(name: string): StoredError {
  return {
    code: 'CALL_INTERRUPTED',
    message: 'Process crashed during execution',
    details: { call: name },
  }
}
