// The journal's steps: each request of a live run is recorded before it takes effect, and its outcome after. Each step checks in its own
// transaction that the run is still the run of the task: this is the fence.

import { ErrandError, type StoredError } from '../../core/errors.ts'
import type { CallRecord } from '../../entities/call.ts'
import { namedStream, type Output } from '../../entities/output.ts'
import type { TaskRecord } from '../../entities/task.ts'
import {
  type CallOutcome,
  type LiveTask,
  type NewCall,
  type NewMessage,
  type Op,
  type Reads,
  type Step,
  step,
  type Tx,
} from '../../ledger/ledger.ts'
import { openCallStatuses } from '../../machines/call-machine.ts'
import { divergenceMessage } from '../../machines/divergence.ts'
import type { ModelFailure, PromptCut } from '../agent-run.ts'
import { callEvent, outcomeEvent, sendToCall } from './journal-closing.ts'
import { type EventTask, eventOf, type StepContext } from './step-context.ts'
import { announceStart, writeMessage } from './write-message.ts'

/** The run that makes the request. */
export interface RunRef {
  taskId: string
  run: number
}

export function runEnded(ref: RunRef, why = 'its task is no longer WORKING in it'): ErrandError {
  return new ErrandError(
    'RUN_ENDED',
    `Run ${ref.run} of ${ref.taskId} has ended: ${why}. Let the executor return; the next run finds what was recorded.`,
    { taskId: ref.taskId, run: ref.run },
  )
}

/** Loads the task of a live run, or refuses. */
export function* loadLive(tx: Reads, ref: RunRef): Op<TaskRecord> {
  const task = yield* tx.task.get(ref.taskId)
  if (!task || task.run !== ref.run || task.status !== 'working') throw runEnded(ref)
  return task
}

/** Loads of the task of a live run what its journal needs, or refuses: all that most requests read. */
function* passFence(tx: Reads, { taskId, run }: RunRef): Op<LiveTask> {
  const task = yield* tx.call.liveTask(taskId, run)
  if (task === undefined) throw runEnded({ taskId, run })
  return task
}

/**
 * Records an entry before it takes effect. An announced call has a line in the conversation, for people. `left`: completed entries that the
 * run has not requested again.
 */
export function beginEntry(
  entry: NewCall,
  ctx: StepContext,
  announced = false,
  left: readonly CallRecord[] = [],
): Step<void> {
  return step(`begin ${entry.kind}`, decideBeginning, { entry, ctx, announced, left })
}

function* decideBeginning(
  tx: Tx,
  {
    entry,
    ctx,
    announced,
    left,
  }: { entry: NewCall; ctx: StepContext; announced: boolean; left: readonly CallRecord[] },
): Op<void> {
  const task = yield* passFence(tx, entry)
  const startMessageId = announced ? yield* announceStart(tx, task, entry, ctx) : null
  yield* tx.call.insert({ ...entry, startMessageId })
  yield* publishDivergence(tx, task, entry, left, ctx)
  // A question is published when the run has ended for it (suspend.ts): until then it cannot be answered.
  if (entry.kind === 'call') yield* publishStart(tx, task, entry, ctx)
}

/** Records a question or a sleep, which is open until it is answered or due. */
export function beginOpenEntry(entry: NewCall, ctx: StepContext): Step<{ open: true }> {
  return step(`begin ${entry.kind}`, decideOpening, { entry, ctx })
}

function* decideOpening(tx: Tx, { entry, ctx }: { entry: NewCall; ctx: StepContext }): Op<{ open: true }> {
  yield* decideBeginning(tx, { entry, ctx, announced: false, left: [] })
  return { open: true }
}

/** Reports a new entry that was made although completed entries of the journal had not been requested again. */
export function* publishDivergence(
  tx: Tx,
  task: EventTask,
  entry: NewCall,
  left: readonly CallRecord[],
  ctx: StepContext,
): Op<void> {
  if (left.length === 0) return
  yield* tx.event.append(eventOf(ctx, 'task.diverged', task, { run: task.run, ...divergenceMessage(entry, left) }))
}

/** Records a value that a run has drawn or a schema has made. Returns it as it is stored; all later runs get the same. */
export function recordValue(entry: NewCall, value: unknown): Step<unknown> {
  return step('record value', function* (tx) {
    yield* passFence(tx, entry)
    const call: NewCall = { ...entry, status: 'completed', result: value }
    yield* tx.call.insert(call)
    return call.result
  })
}

/** Begins a call that was recorded when a model requested it. */
export function beginPending(ref: RunRef, callId: string, announced: boolean, ctx: StepContext): Step<void> {
  return step('begin call', function* (tx) {
    const task = yield* passFence(tx, ref)
    const call = yield* loadOpenEntry(tx, ref, callId)
    yield* sendToCall(tx, task, { ...call, run: task.run }, { type: 'begin', announced }, ctx)
  })
}

function* publishStart(tx: Tx, task: LiveTask, call: NewCall, ctx: StepContext): Op<void> {
  yield* tx.event.append(callEvent(ctx, task, { ...call, status: 'in_progress', run: task.run }))
}

/** Saves details of a call in progress while its run is open. */
export function noteEntry(ref: RunRef, callId: string, details: unknown, ctx: StepContext): Step<void> {
  return step('note call', function* (tx) {
    yield* passOpenFence(tx, ref)
    const call = yield* loadOpenEntry(tx, ref, callId)
    yield* tx.call.save({ ...call, details, updatedAt: ctx.at })
  })
}

export type EntryOutcome = { ok: true; result: unknown; resultLost: string | null } | { ok: false; error: StoredError }

/**
 * Records the outcome of an entry. A call may end while its run is ending, and its result is kept. May be repeated with the same time when
 * it is unknown whether the outcome was written. `announced`: its start has a line in the conversation.
 */
export function finishEntry(
  ref: RunRef,
  { id: callId, name }: Pick<CallRecord, 'id' | 'name'>,
  outcome: EntryOutcome,
  ctx: StepContext,
  announced = false,
): Step<void> {
  return step('finish call', decideFinish, { ref, callId, name, outcome, ctx, announced })
}

interface FinishRequest {
  ref: RunRef
  callId: string
  name: string
  outcome: EntryOutcome
  ctx: StepContext
  announced: boolean
}

function* decideFinish(tx: Tx, { ref, callId, name, outcome, ctx, announced }: FinishRequest): Op<void> {
  const status: CallOutcome['status'] = outcome.ok ? 'completed' : 'failed'
  const came = outcome.ok
    ? { result: outcome.result, resultLost: outcome.resultLost, error: null }
    : { result: null, resultLost: null, error: outcome.error }
  // Nearly every call ends in its live run, without a line about its start: neither its row nor that of its task is read.
  const live = announced ? undefined : yield* tx.call.liveTask(ref.taskId, ref.run)
  if (live !== undefined) {
    const ended = { id: callId, taskId: live.id, kind: 'call' as const, name, status, ...came, updatedAt: ctx.at }
    const event = outcomeEvent(ctx, live, ended)
    if (yield* tx.call.end(ended)) return yield* tx.event.append(event)
  }
  // The task before its call: the lock of its row protects its journal.
  const found = yield* tx.task.get(ref.taskId)
  const recorded = yield* tx.call.get(callId)
  if (recorded?.status === status && recorded.updatedAt === ctx.at) return
  const task = requireOpenRun(found, ref)
  const call = yield* loadOpenEntry(tx, ref, callId)
  yield* sendToCall(tx, task, call, { type: outcome.ok ? 'complete' : 'fail', set: { ...came, dueAt: null } }, ctx)
}

/** Returns the task of a run that is not closed; it may be ending. Few columns of it while the run is live. */
function* passOpenFence(tx: Reads, ref: RunRef): Op<EventTask> {
  return (yield* tx.call.liveTask(ref.taskId, ref.run)) ?? (yield* loadOpenRun(tx, ref))
}

function* loadOpenRun(tx: Reads, ref: RunRef): Op<TaskRecord> {
  return requireOpenRun(yield* tx.task.get(ref.taskId), ref)
}

function requireOpenRun(task: TaskRecord | undefined, ref: RunRef): TaskRecord {
  if (!task || task.run !== ref.run || !task.runOpen) throw runEnded(ref, 'it was closed')
  return task
}

function* loadOpenEntry(tx: Reads, ref: RunRef, callId: string): Op<CallRecord> {
  const call = yield* tx.call.get(callId)
  if (!call || !openCallStatuses.includes(call.status)) throw runEnded(ref, `its call ${callId} was closed`)
  return call
}

/** Appends a message of the run and records the calls that it requests, without beginning them. */
export function appendMessage(
  ref: RunRef,
  message: NewMessage,
  calls: readonly NewCall[],
  ctx: StepContext,
): Step<CallRecord[]> {
  return step('append message', decideAppending, { ref, message, calls, ctx })
}

function* decideAppending(
  tx: Tx,
  { ref, message, calls, ctx }: { ref: RunRef; message: NewMessage; calls: readonly NewCall[]; ctx: StepContext },
): Op<CallRecord[]> {
  const task = yield* passFence(tx, ref)
  yield* writeMessage(tx, task, message, ctx)
  if (ctx.teams !== undefined) yield* ctx.teams.answered(tx, task, message, ctx)
  for (const call of calls) yield* tx.call.insert(call)
  const stored: CallRecord[] = []
  for (const { id } of calls) stored.push((yield* tx.call.get(id)) as CallRecord)
  return stored
}

/** Records that a try of a model step failed. It is neither a message nor a call, but people need to see it. */
export function recordModelFailure(ref: RunRef, failure: ModelFailure, ctx: StepContext): Step<void> {
  return step('record model failure', function* (tx) {
    const task = yield* passFence(tx, ref)
    yield* tx.event.append(eventOf(ctx, 'model.failed', task, { ...failure, run: ref.run }))
  })
}

/** Records that a provider has probably read only a part of what it was sent. */
export function recordPromptCut(ref: RunRef, cut: PromptCut, ctx: StepContext): Step<void> {
  return step('record cut prompt', function* (tx) {
    const task = yield* passFence(tx, ref)
    yield* tx.event.append(eventOf(ctx, 'model.prompt_cut', task, { ...cut, run: ref.run }))
  })
}

/** Saves a batch of output. */
export function writeOutput(ref: RunRef, output: Output, ctx: StepContext): Step<void> {
  return step('write output', decideOutput, { ref, output, ctx })
}

function* decideOutput(tx: Tx, { ref, output, ctx }: { ref: RunRef; output: Output; ctx: StepContext }): Op<void> {
  const task = yield* passOpenFence(tx, ref)
  const { text, stream } = output
  yield* tx.event.append(eventOf(ctx, 'output.written', task, { text, ...namedStream(stream), run: ref.run }))
}

export function reportProgress(ref: RunRef, fraction: number, note: string | null, ctx: StepContext): Step<void> {
  return step('report progress', function* (tx) {
    const live = yield* loadLive(tx, ref)
    const task = { ...live, progress: { fraction, note, at: ctx.at }, updatedAt: ctx.at }
    yield* tx.task.saveProgress(task)
    yield* tx.event.append(eventOf(ctx, 'progress.reported', task, { fraction, note, run: ref.run }))
  })
}
