// Closing what a run left open in the journal, in the transaction in which the run or the task ends.
import type { CallKind, CallRecord } from '../entities/call.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { StoredError } from '../errors.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { eventOf, type Moment } from './moment.ts'

/** Fails every open entry of the given kinds; each closed call has its event. */
export function* closeEntries(
  tx: Tx,
  task: TaskRecord,
  kinds: readonly CallKind[],
  errorOf: (call: CallRecord) => StoredError,
  moment: Moment,
): Op<CallRecord[]> {
  const closed: CallRecord[] = []
  for (const call of yield* tx.call.open(task.id)) {
    if (!kinds.includes(call.kind)) continue
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
  yield* tx.call.save({ ...call, status: 'failed', error, dueAt: null, updatedAt: moment.at })
  if (call.kind === 'wait') yield* tx.dependency.satisfyWaits(call.id, moment.at)
  if (call.kind === 'call') {
    yield* tx.event.append(eventOf(moment, 'call.failed', task, { callId: call.id, tool: call.name, error }))
  }
}

export const waitKinds: readonly CallKind[] = ['ask', 'wait', 'sleep']

/** Why a wait ends with its task. */
export function endedWith(task: TaskRecord): StoredError {
  return { code: 'RUN_ENDED', message: `The task was ${task.status} before this was over` }
}
