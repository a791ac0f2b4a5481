// How entries of the journal end, one by one or with their run or task, and the event that tells how a call stands.

import type { StoredError } from '../core/errors.ts'
import type { CallRecord } from '../entities/call.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { NewCall, NewEvent, Op, Tx } from '../ledger/ledger.ts'
import { observeCall } from './observe-work.ts'
import { eventOf, type StepContext } from './step-context.ts'
import { announceEnd } from './write-message.ts'

/** Fails the open entries that `closes` picks. */
export function* closeEntries(
  tx: Tx,
  task: TaskRecord,
  closes: (call: CallRecord) => boolean,
  errorOf: (call: CallRecord) => StoredError,
  ctx: StepContext,
): Op<void> {
  for (const call of yield* tx.call.open(task.id)) {
    if (closes(call)) yield* endEntry(tx, task, { ...call, status: 'failed', error: errorOf(call) }, ctx)
  }
}

/** Saves an entry that has its outcome now. A call has its event, and its line where it was announced. */
export function* endEntry(tx: Tx, task: TaskRecord, outcome: CallRecord, ctx: StepContext): Op<void> {
  const ended = { ...outcome, dueAt: null, updatedAt: ctx.at }
  yield* tx.call.save({ ...ended, endMessageId: yield* announceEnd(tx, task, ended, ctx) })
  if (ended.kind === 'wait') yield* tx.dependency.satisfyWaits(ended.id, ctx.at)
  if (ended.kind !== 'call') return
  yield* tx.event.append(callEvent(ctx, task, ended))
  yield* observeCall(tx, task, ended, ctx)
}

/** The event that tells how a call stands. */
export function callEvent(
  ctx: StepContext,
  task: TaskRecord,
  { id: callId, name: tool, status, params: args, result, error, run }: NewCall,
): NewEvent {
  if (status === 'completed') return eventOf(ctx, 'call.completed', task, { callId, tool, result })
  if (status === 'failed') return eventOf(ctx, 'call.failed', task, { callId, tool, error })
  return eventOf(ctx, 'call.started', task, { callId, tool, args, run })
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
