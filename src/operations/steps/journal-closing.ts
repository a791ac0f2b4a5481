// Ends entries of the journal, one by one or with their run or task, and makes the event that reports the state of a call.

import type { StoredError } from '../../core/errors.ts'
import type { CallRecord, CallStatus } from '../../entities/call.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { NewCall, NewEvent, Op, Tx } from '../../ledger/ledger.ts'
import { type CallAction, decideCall } from '../../machines/call-machine.ts'
import { decideQuestion } from '../../machines/question-machine.ts'
import { type EventTask, eventOf, type StepContext } from './step-context.ts'
import { announceEnd, announceStart } from './write-message.ts'

/** Fails the open entries that `closes` selects. */
export function* closeEntries(
  tx: Tx,
  task: TaskRecord,
  closes: (call: CallRecord) => boolean,
  errorOf: (call: CallRecord) => StoredError,
  ctx: StepContext,
): Op<void> {
  for (const call of yield* tx.call.open(task.id))
    if (closes(call)) yield* failEntry(tx, task, call, errorOf(call), ctx)
}

/** Ends an entry without a result: a call fails, a question is withdrawn, a wait or a sleep is over. */
export function* failEntry(
  tx: Tx,
  task: TaskRecord,
  entry: CallRecord,
  error: StoredError,
  ctx: StepContext,
): Op<void> {
  if (entry.kind === 'call')
    return yield* sendToCall(tx, task, entry, { type: 'fail', set: { error, dueAt: null } }, ctx)
  const [withdrawn] = entry.kind === 'ask' ? (decideQuestion(entry.status, { type: 'withdraw' }) ?? []) : []
  const status = (withdrawn?.to ?? 'failed') as CallStatus
  yield* tx.call.save({ ...entry, status, error, dueAt: null, updatedAt: ctx.at })
  if (entry.kind === 'wait') yield* tx.dependency.satisfyWaits(entry.id, ctx.at)
}

/** An event to the machine of a call, with new values of its row. `announced`: its start has a line in the conversation. */
interface CallEvent {
  type: 'begin' | 'complete' | 'fail'
  set?: Partial<CallRecord>
  announced?: boolean
}

/** Moves a call by an event. One that its state does not accept changes nothing. */
export function* sendToCall(
  tx: Tx,
  task: EventTask,
  call: CallRecord,
  { type, set, announced = false }: CallEvent,
  ctx: StepContext,
): Op<void> {
  for (const { to, actions } of decideCall(call.status, { type }) ?? []) {
    const next = { ...call, ...set, status: to as CallStatus, updatedAt: ctx.at }
    for (const action of actions) yield* callEffects[action.type as CallAction](tx, { task, next, announced, ctx })
  }
}

/** The ledger's half of the actions of a call's machine. */
const callEffects: {
  readonly [A in CallAction]: (
    tx: Tx,
    change: { task: EventTask; next: CallRecord; announced: boolean; ctx: StepContext },
  ) => Op<void>
} = {
  *announceStart(tx, { task, next, announced, ctx }) {
    next.startMessageId = announced ? yield* announceStart(tx, task, next, ctx) : null
  },

  *announceEnd(tx, { task, next, ctx }) {
    next.endMessageId = yield* announceEnd(tx, task, next, ctx)
  },

  *record(tx, { task, next, ctx }) {
    yield* tx.call.save(next)
    yield* tx.event.append(callEvent(ctx, task, next))
    const hasEnded = next.status === 'completed' || next.status === 'failed'
    if (hasEnded && ctx.teams !== undefined) yield* ctx.teams.callEnded(tx, task, next, ctx)
  },
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

/** A wait for tasks is over, and no run has taken the outcomes yet. */
export function isOver({ details }: Pick<CallRecord, 'details'>): boolean {
  return (details as { over?: boolean } | null)?.over === true
}

/** Why a wait ends with its task. */
export function endedWith(task: TaskRecord): StoredError {
  const reason = task.statusReason === null ? '' : `: ${task.statusReason}`
  return { code: 'RUN_ENDED', message: `The task was ${task.status} before this ended${reason}` }
}
