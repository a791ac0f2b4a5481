// Saves calls from outside: those of a client that works on a task without a run of the engine and keeps its calls in the ledger. Such a
// call belongs to run 0 and attempt 0, so that no run takes it for its own. Calls that a run has recorded cannot be saved from outside.

import { ErrandError } from '../../core/errors.ts'
import { canonicalJson } from '../../core/json.ts'
import type { CallRecord, CallStatus } from '../../entities/call.ts'
import { isSettled, type TaskRecord } from '../../entities/task.ts'
import { type NewCall, type Op, type Reads, type Step, step } from '../../ledger/ledger.ts'
import { callEdges, openCallStatuses } from '../../machines/call-machine.ts'
import { callEvent } from './journal-closing.ts'
import { loadToChange, type StepContext } from './step-context.ts'

/** The number of the run of saved calls: none. */
const noRun = 0

export interface SaveCallRequest extends StepContext {
  call: Pick<
    CallRecord,
    | 'id'
    | 'taskId'
    | 'name'
    | 'params'
    | 'status'
    | 'details'
    | 'result'
    | 'error'
    | 'startMessageId'
    | 'endMessageId'
    // Used for a new call only.
    | 'createdAt'
  >
}

/**
 * Saves a new call in any state; a known one only moves on: pending → in_progress → completed | failed, each with its event. Its name and
 * parameters stay.
 *
 * @throws ErrandError NOT_FOUND for the task or a message; FORBIDDEN for a call of a run; KEY_CONFLICT for another call under the same id;
 *   INVALID_TRANSITION for a move back, and for an open call in a settled task.
 */
export function saveCall(request: SaveCallRequest): Step<void> {
  const { call } = request
  return step('save call', function* (tx) {
    const task = yield* loadToChange(tx, call.taskId)
    const existing = yield* tx.call.get(call.id)
    yield* requireMessages(tx, call)
    if (existing !== undefined) requireSameCall(existing, call)
    else if (isSettled(task.status) && openCallStatuses.includes(call.status)) throw tooLate(call, task)
    const from = existing?.status ?? 'pending'
    const path = pathTo(from, call.status)
    if (path === undefined) throw wayBack(call, from)

    if (existing === undefined) yield* tx.call.insert(rowOf(request, task))
    else if (openCallStatuses.includes(from)) {
      yield* tx.call.save({
        ...call,
        kind: 'call',
        startMessageId: call.startMessageId ?? existing.startMessageId,
        endMessageId: call.endMessageId ?? existing.endMessageId,
        dueAt: null,
        updatedAt: request.at,
      })
    }
    for (const status of path) yield* tx.event.append(callEvent(request, task, { ...rowOf(request, task), status }))
  })
}

function* requireMessages(tx: Reads, { taskId, startMessageId, endMessageId }: SaveCallRequest['call']): Op<void> {
  for (const messageId of [startMessageId, endMessageId]) {
    if (messageId === null || (yield* tx.message.get(messageId))?.taskId === taskId) continue
    throw new ErrandError(
      'NOT_FOUND',
      `${taskId} has no message ${messageId}. Save the message first, then the call.`,
      { messageId, taskId },
    )
  }
}

function requireSameCall(existing: CallRecord, call: SaveCallRequest['call']): void {
  if (existing.taskId !== call.taskId || existing.name !== call.name) throw another(existing, 'it is another call')
  if (existing.run !== noRun) {
    throw new ErrandError(
      'FORBIDDEN',
      `Call ${call.id} was recorded by run ${existing.run} of ${call.taskId}, and a call of a run cannot be saved from outside. Save your own calls under other ids.`,
      { callId: call.id, taskId: call.taskId, run: existing.run },
    )
  }
  if (canonicalJson(existing.params) !== canonicalJson(call.params)) throw another(existing, 'its parameters differ')
}

/** The states on the way along the table, with the last one; empty if the call is in it already. */
function pathTo(from: CallStatus, to: CallStatus): CallStatus[] | undefined {
  if (from === to) return []
  const nexts = Object.values(callEdges[from])
  if (nexts.includes(to)) return [to]
  for (const next of nexts) {
    const rest = pathTo(next, to)
    if (rest !== undefined) return [next, ...rest]
  }
  return undefined
}

function rowOf({ call, at }: SaveCallRequest, { generation }: TaskRecord): NewCall {
  return {
    ...call,
    resultLost: null,
    run: noRun,
    generation,
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
    `The call ${existing.id} (${existing.name}) already exists in ${existing.taskId}, and ${why}. Save it under another id.`,
    { callId: existing.id, taskId: existing.taskId },
  )
}

function wayBack({ id, status }: SaveCallRequest['call'], from: CallStatus): ErrandError {
  return new ErrandError(
    'INVALID_TRANSITION',
    `Cannot save call ${id} as ${status}: it is ${from}, and a call never moves back.`,
    { callId: id, from, to: status },
  )
}

function tooLate({ id, status }: SaveCallRequest['call'], task: TaskRecord): ErrandError {
  return new ErrandError(
    'INVALID_TRANSITION',
    `Cannot begin call ${id} in ${task.id}: the task is ${task.status}. Now only the outcome of a call that has begun can be saved.`,
    { callId: id, to: status, taskId: task.id, from: task.status },
  )
}
