// A call saved from outside: by whoever works on a task without a run of ours and keeps its calls in the ledger. Such a call
// belongs to run 0 and attempt 0, so no run ever takes it for one of its own; and what a run has recorded is the run's alone.

import type { CallRecord, CallStatus } from '../entities/call.ts'
import type { EventType } from '../entities/event.ts'
import { isSettled, type TaskRecord } from '../entities/task.ts'
import { ErrandError, type StoredError } from '../errors.ts'
import { canonicalJson } from '../json.ts'
import { inThree } from '../ledger/in-three.ts'
import type { NewCall, Op, Reads, Step, Tx } from '../ledger/ledger.ts'
import { type CallEventName, nextCallStatus, openCallStatuses } from '../machines/call-machine.ts'
import { eventOf, loadTask, type Moment } from './moment.ts'

/** The run that saved calls belong to: none. */
const noRun = 0

export interface SaveCallRequest extends Moment {
  call: {
    id: string
    taskId: string
    name: string
    params: unknown
    status: CallStatus
    /** Notes of an open call; null when nothing. */
    details: unknown
    /** Null until completed. */
    result: unknown
    /** Null unless failed. */
    error: StoredError | null
    startMessageId: string | null
    endMessageId: string | null
    /** Epoch milliseconds; only a new call takes it. */
    createdAt: number
  }
}

interface Loaded {
  task: TaskRecord
  existing: CallRecord | undefined
  /** A message that it names and that is not one of its task. */
  strayMessage: string | undefined
}

interface Verdict {
  task: TaskRecord
  existing: CallRecord | undefined
  /** The states that it passes, the last one its own. Empty when it stays as it is. */
  path: CallStatus[]
}

/**
 * A new call may be saved in any state, a known one moves on only: pending → in_progress → completed | failed, each with its
 * event. Name and parameters stay.
 *
 * @throws ErrandError NOT_FOUND for the task or a message; FORBIDDEN for a call that a run made; KEY_CONFLICT for another call
 *   under the same id; INVALID_TRANSITION for a way back, and for an open call in a task that has settled.
 */
export function saveCall(request: SaveCallRequest): Step<void> {
  const { call } = request
  return inThree<Loaded, Verdict, void>({
    name: 'save call',
    *load(tx) {
      return {
        task: yield* loadTask(tx, call.taskId),
        existing: yield* tx.call.get(call.id),
        strayMessage: yield* findStray(tx, call),
      }
    },
    judge({ task, existing, strayMessage }) {
      if (strayMessage !== undefined) throw noSuchMessage(strayMessage, call.taskId)
      if (existing !== undefined) requireSameCall(existing, call)
      else if (isSettled(task.status) && openCallStatuses.includes(call.status)) throw tooLate(call, task)
      return { task, existing, path: pathTo(existing?.status, call) }
    },
    write: (tx, verdict) => write(tx, verdict, request),
  })
}

function* findStray(
  tx: Reads,
  { taskId, startMessageId, endMessageId }: SaveCallRequest['call'],
): Op<string | undefined> {
  for (const id of [startMessageId, endMessageId]) {
    if (id !== null && (yield* tx.message.get(id))?.taskId !== taskId) return id
  }
  return undefined
}

function requireSameCall(existing: CallRecord, call: SaveCallRequest['call']): void {
  if (existing.taskId !== call.taskId || existing.name !== call.name) throw another(existing, 'it is another call')
  if (existing.run !== noRun) {
    throw new ErrandError(
      'FORBIDDEN',
      `Call ${call.id} was made by run ${existing.run} of ${call.taskId}, and what a run records nobody else changes. Save calls of your own, under ids of their own.`,
      { callId: call.id, taskId: call.taskId, run: existing.run },
    )
  }
  if (canonicalJson(existing.params) !== canonicalJson(call.params))
    throw another(existing, 'its parameters are others')
}

/** @throws ErrandError INVALID_TRANSITION for a way back. */
function pathTo(from: CallStatus | undefined, { id, status }: SaveCallRequest['call']): CallStatus[] {
  if (from === undefined) return pathFrom('pending', status) ?? [status]
  if (from === status) return []
  const path = pathFrom(from, status)
  if (path !== undefined) return path
  throw new ErrandError(
    'INVALID_TRANSITION',
    `Cannot save call ${id} as ${status}: it is ${from}, and a call never goes back.`,
    { callId: id, from, to: status },
  )
}

const waysOn: readonly CallEventName[] = ['begin', 'complete', 'fail']

/** The shortest way along the table; empty for a state that is reached already. */
function pathFrom(from: CallStatus, to: CallStatus): CallStatus[] | undefined {
  if (from === to) return []
  const nexts = waysOn.flatMap((event) => nextCallStatus(from, event) ?? [])
  if (nexts.includes(to)) return [to]
  for (const next of nexts) {
    const rest = pathFrom(next, to)
    if (rest !== undefined) return [next, ...rest]
  }
  return undefined
}

const eventTypes: Partial<Record<CallStatus, EventType>> = {
  in_progress: 'call.started',
  completed: 'call.completed',
  failed: 'call.failed',
}

function* write(tx: Tx, { task, existing, path }: Verdict, request: SaveCallRequest): Op<void> {
  const { call } = request
  if (existing === undefined) yield* tx.call.insert(rowOf(request))
  else if (openCallStatuses.includes(existing.status)) {
    const { status, details, result, error, startMessageId, endMessageId } = call
    yield* tx.call.save({
      id: call.id,
      status,
      details,
      result,
      error,
      startMessageId: startMessageId ?? existing.startMessageId,
      endMessageId: endMessageId ?? existing.endMessageId,
      dueAt: null,
      updatedAt: request.at,
    })
  }
  for (const status of path) {
    const type = eventTypes[status]
    if (type !== undefined) yield* tx.event.append(eventOf(request, type, task, told(call, status)))
  }
}

function told(
  { id, name, params, result, error }: SaveCallRequest['call'],
  status: CallStatus,
): Record<string, unknown> {
  const base = { callId: id, tool: name }
  if (status === 'completed') return { ...base, result }
  return status === 'failed' ? { ...base, error } : { ...base, args: params, run: noRun }
}

function rowOf({ call, at }: SaveCallRequest): NewCall {
  return {
    ...call,
    run: noRun,
    attempt: 0,
    kind: 'call',
    ident: `ledger:${call.id}`,
    ordinal: 0,
    onInterrupt: 'fail',
    parentId: null,
    dueAt: null,
    updatedAt: at,
  }
}

function another(existing: CallRecord, why: string): ErrandError {
  return new ErrandError(
    'KEY_CONFLICT',
    `There is a call ${existing.id} (${existing.name}) in ${existing.taskId} already, and ${why}. Save it under another id.`,
    { callId: existing.id, taskId: existing.taskId },
  )
}

function noSuchMessage(messageId: string, taskId: string): ErrandError {
  return new ErrandError('NOT_FOUND', `${taskId} has no message ${messageId}. Save the message first, then the call.`, {
    messageId,
    taskId,
  })
}

function tooLate({ id, status }: SaveCallRequest['call'], task: TaskRecord): ErrandError {
  return new ErrandError(
    'INVALID_TRANSITION',
    `Cannot begin call ${id} in ${task.id}: the task is ${task.status}. Only what a call came to is saved now.`,
    { callId: id, to: status, taskId: task.id, from: task.status },
  )
}
