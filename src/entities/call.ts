// The journal: every request of a run and its outcome. People list calls only; questions, waits (for tasks, times and signals), races, spawned children
// and values are entries of the same journal, because they are found again by the same identity.

import { z } from 'zod'
import type { StoredError } from '../core/errors.ts'
import { canonicalJson, checkText } from '../core/json.ts'
import { once } from '../core/once.ts'
import { sha256 } from '../core/sha256.ts'
import { webhookName } from './signal.ts'
import { onInterruptPolicies } from './task-fields.ts'

export const callStatuses = ['pending', 'in_progress', 'completed', 'failed'] as const
export type CallStatus = (typeof callStatuses)[number]

/** `machine`: the situation of a user's machine (entities/machine.ts), which takes every signal of its task. */
export const callKinds = ['call', 'ask', 'wait', 'sleep', 'signal', 'race', 'spawn', 'value', 'machine'] as const
export type CallKind = (typeof callKinds)[number]

/** The names of the values that the engine draws for a run. Other entries of the kind `value` are what a schema made. */
export const drawnValues = ['now', 'uuid', 'random', webhookName] as const

export const callShape = once(() => ({
  seq: z.int(),
  id: z.string(),
  taskId: z.string(),
  /** The run that made it. */
  run: z.int(),
  /** The generation of its task at that time. */
  generation: z.int(),
  attempt: z.int(),
  name: z.string(),
  params: z.unknown(),
  status: z.enum(callStatuses),
  onInterrupt: z.enum(onInterruptPolicies),
  /** Details that the call noted while in progress, such as a process group; null for none. */
  details: z.unknown(),
  /** Null until completed, and if the result is lost. */
  result: z.unknown(),
  /** Why the result of a completed call could not be recorded; null if it was. */
  resultLost: z.string().nullable(),
  /** Null unless failed. */
  error: z.custom<StoredError>().nullable(),
  /** The messages to people about its beginning and its end; null for none. */
  startMessageId: z.string().nullable(),
  endMessageId: z.string().nullable(),
  /** When a sleep ends, or a question or wait times out; null when never. */
  dueAt: z.number().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
}))

/** A journaled call as `engine.calls` lists it. Times are epoch milliseconds. */
export interface Call extends z.output<z.ZodObject<ReturnType<typeof callShape>>> {}

/** An entry of the journal. */
export interface CallRecord extends Call {
  kind: CallKind
  /** Its identity, with kind, name and ordinal: the key if one was given, else the params (hashed when long). */
  ident: string
  /** n-th among equals, from 0. */
  ordinal: number
  /** The call whose function made it; null for an entry of the executor itself. */
  parentId: string | null
}

export function toCall(record: CallRecord): Call {
  const { ident: _ident, ordinal: _ordinal, kind: _kind, parentId: _parent, ...call } = record
  return call
}

const maxPlainIdentLength = 80

/**
 * The identity of an entry: its key, else its params, never its position alone (design section 2).
 * @throws ErrandError INVALID_INPUT for a key that no database stores unchanged, because its entry could not be found again.
 */
export function identOf(key: string | undefined, params: unknown): string {
  if (key !== undefined) {
    checkText(key, 'the key of an entry')
    return key.length > maxPlainIdentLength ? `k#${sha256(key)}` : `k:${key}`
  }
  const text = canonicalJson(params ?? null)
  return text.length > maxPlainIdentLength ? `p#${sha256(text)}` : `p:${text}`
}

/** True when the call has noted a process (`note({ processGroup })`): its run is not closed while that process lives. */
export function notesProcess(details: unknown): boolean {
  return (details as { processGroup?: unknown } | null | undefined)?.processGroup !== undefined
}

/** The error of a call that was in progress at a crash and may have taken effect. */
export function interruptedError(name: string): StoredError {
  return {
    code: 'CALL_INTERRUPTED',
    message: 'Process crashed during execution',
    details: { call: name },
  }
}

/** The same for a call whose command could not be seen, and so not be ended. */
export function mayStillRun(error: StoredError): StoredError {
  const message = `${error.message}. Its command may still run: it could not be ended from where the task goes on`
  return { ...error, message, details: { ...(error.details as object | undefined), mayStillRun: true } }
}

/** The command of an interrupted call may still run. */
export function isInDoubt({ error }: Pick<CallRecord, 'error'>): boolean {
  return error?.code === 'CALL_INTERRUPTED' && (error.details as { mayStillRun?: unknown } | null)?.mayStillRun === true
}
