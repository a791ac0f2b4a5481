// Closing what a run left open in the journal, in the transaction in which the run or the task ends.
import type { CallRecord } from '../entities/call.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { StoredError } from '../errors.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { announceEnd } from './announcements.ts'
import { eventOf, type Moment } from './moment.ts'
import { observeCall } from './observe-work.ts'

/** Fails the open entries that `closes` picks; each closed call has its event, and its line where it was announced. */
export function* closeEntries(
  tx: Tx,
  task: TaskRecord,
  closes: (call: CallRecord) => boolean,
  errorOf: (call: CallRecord) => StoredError,
  moment: Moment,
): Op<CallRecord[]> {
  const closed: CallRecord[] = []
  for (const call of yield* tx.call.open(task.id)) {
    if (!closes(call)) continue
    yield* closeEntry(tx, task, call, () => errorOf(call), moment)
    closed.push(call)
  }
  return closed
}

/** Fails one open entry of a task. */
export function* closeEntry(
  tx: Tx,
  task: TaskRecord,
  call: CallRecord,
  errorOf: (task: TaskRecord) => StoredError,
  moment: Moment,
): Op<void> {
  const error = errorOf(task)
  const failed: CallRecord = { ...call, status: 'failed', error, dueAt: null, updatedAt: moment.at }
  yield* tx.call.save({ ...failed, endMessageId: yield* announceEnd(tx, task, failed, moment) })
  if (call.kind === 'wait') yield* tx.dependency.satisfyWaits(call.id, moment.at)
  if (call.kind === 'call') {
    yield* tx.event.append(eventOf(moment, 'call.failed', task, { callId: call.id, tool: call.name, error }))
    yield* observeCall(tx, task, failed, moment)
  }
}

/** It may be on its way: asked for and begun. One that was never begun waits for a later run. */
export function isInFlight(entry: CallRecord): boolean {
  return entry.kind === 'call' && entry.status === 'in_progress'
}

/** Nothing of it is on its way: a question, other tasks, a time, a call that was never begun. It ends with its task. */
export function isIdle(entry: CallRecord): boolean {
  return entry.kind !== 'call' || entry.status === 'pending'
}

/** Why a wait ends with its task. */
export function endedWith(task: TaskRecord): StoredError {
  const reason = task.statusReason === null ? '' : `: ${task.statusReason}`
  return { code: 'RUN_ENDED', message: `The task was ${task.status} before this was over${reason}` }
}
