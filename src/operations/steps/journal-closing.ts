// Ends entries of the journal, one by one or with their run or task, and makes the event that reports the state of a call.

import type { StoredError } from '../../core/errors.ts'
import type { CallRecord } from '../../entities/call.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { NewCall, NewEvent, Op, Tx } from '../../ledger/ledger.ts'
import { type EventTask, eventOf, type StepContext } from './step-context.ts'
import { announceEnd } from './write-message.ts'

/** Fails the open entries that `closes` selects. */
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

/** Saves an entry with its outcome. For a call it appends the event, and the line of the conversation if its start was announced. */
export function* endEntry(tx: Tx, task: TaskRecord, outcome: CallRecord, ctx: StepContext): Op<void> {
  const ended = { ...outcome, dueAt: null, updatedAt: ctx.at }
  yield* tx.call.save({ ...ended, endMessageId: yield* announceEnd(tx, task, ended, ctx) })
  if (ended.kind === 'wait') yield* tx.dependency.satisfyWaits(ended.id, ctx.at)
  if (ended.kind !== 'call') return
  yield* tx.event.append(callEvent(ctx, task, ended))
  if (ctx.teams !== undefined) yield* ctx.teams.callEnded(tx, task, ended, ctx)
}

/** The event that reports the state of a call. */
export function callEvent(
  ctx: StepContext,
  task: EventTask,
  call: Pick<NewCall, 'id' | 'name' | 'status' | 'params' | 'result' | 'resultLost' | 'error' | 'run'>,
): NewEvent {
  const { id: callId, name: tool, params: args, run } = call
  if (call.status === 'completed' || call.status === 'failed') return outcomeEvent(ctx, task, call)
  return eventOf(ctx, 'call.started', task, { callId, tool, args, run })
}

/** The event that reports the outcome of a call. */
export function outcomeEvent(
  ctx: StepContext,
  task: EventTask,
  {
    id: callId,
    name: tool,
    status,
    result,
    resultLost,
    error,
  }: Pick<NewCall, 'id' | 'name' | 'status' | 'result' | 'resultLost' | 'error'>,
): NewEvent {
  return status === 'completed'
    ? eventOf(ctx, 'call.completed', task, { callId, tool, result, ...(resultLost === null ? {} : { resultLost }) })
    : eventOf(ctx, 'call.failed', task, { callId, tool, error })
}

/** The entry may be executing: requested and begun. One that was never begun waits for a later run. */
export function isInFlight(entry: CallRecord): boolean {
  return entry.kind === 'call' && entry.status === 'in_progress'
}

/** Nothing of the entry is executing: a question, a wait, a sleep, or a call that was never begun. It ends with its task. */
export function isIdle(entry: CallRecord): boolean {
  return entry.kind !== 'call' || entry.status === 'pending'
}

/** Why a wait ends with its task. */
export function endedWith(task: TaskRecord): StoredError {
  const reason = task.statusReason === null ? '' : `: ${task.statusReason}`
  return { code: 'RUN_ENDED', message: `The task was ${task.status} before this ended${reason}` }
}
