// The journal: everything a run asked for and what came of it. Calls are what people list; questions, waits, sleeps, spawned
// children and values are entries of the same journal, because they are found again by the same identity.
import { hash } from 'node:crypto'
import { z } from 'zod'
import type { StoredError } from '../core/errors.ts'
import { canonicalJson, checkText } from '../core/json.ts'
import { onInterruptPolicies } from './task-fields.ts'

export const callStatuses = ['pending', 'in_progress', 'completed', 'failed'] as const
export type CallStatus = (typeof callStatuses)[number]

export const callKinds = ['call', 'ask', 'wait', 'sleep', 'spawn', 'value'] as const
export type CallKind = (typeof callKinds)[number]

export const callShape = {
  seq: z.int(),
  id: z.string(),
  taskId: z.string(),
  /** The run that made it. */
  run: z.int(),
  attempt: z.int(),
  name: z.string(),
  params: z.unknown(),
  status: z.enum(callStatuses),
  onInterrupt: z.enum(onInterruptPolicies),
  /** What the call noted about itself while in progress (a process group, say); null when nothing. */
  details: z.unknown(),
  /** Null until completed. */
  result: z.unknown(),
  /** Null unless failed. */
  error: z.custom<StoredError>().nullable(),
  /** Messages that tell of its beginning and its end, for people; null where nobody is told. */
  startMessageId: z.string().nullable(),
  endMessageId: z.string().nullable(),
  /** When a sleep ends, or a question or wait times out; null when never. */
  dueAt: z.number().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
}

/** A journaled call as `engine.calls` lists it. Times are epoch milliseconds. */
export interface Call extends z.output<z.ZodObject<typeof callShape>> {}

/** An entry of the journal. */
export interface CallRecord extends Call {
  kind: CallKind
  /** What it is found by, with kind, name and ordinal: the key if one was given, else the params (hashed when long). */
  ident: string
  /** n-th among equals, from 0. */
  ordinal: number
  /** The call whose function made it; null for an entry of the executor itself, and for what was made before this was recorded. */
  parentId: string | null
}

export function toCall(record: CallRecord): Call {
  const { ident: _ident, ordinal: _ordinal, kind: _kind, parentId: _parent, ...call } = record
  return call
}

const maxPlainIdentLength = 80

/**
 * What an entry is found by: its key, else its params. Never its position alone (design section 2).
 * @throws ErrandError INVALID_INPUT for a key that would not be read back as it was: its entry would never be found again.
 */
export function identOf(key: string | undefined, params: unknown): string {
  if (key !== undefined) {
    checkText(key, 'the key of an entry')
    return key.length > maxPlainIdentLength ? `k#${hash('sha256', key)}` : `k:${key}`
  }
  const text = canonicalJson(params ?? null)
  return text.length > maxPlainIdentLength ? `p#${hash('sha256', text)}` : `p:${text}`
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
