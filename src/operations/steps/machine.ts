// A macrostep of a user's machine: the event that it consumed, its next situation, and what follows at once, in one transaction. The
// macrostep itself was computed before, from what was read, because guards and `assign` are code of users.
import { type CallRecord, callKinds } from '../../entities/call.ts'
import type { MachineDetails, MachineEvent } from '../../entities/machine.ts'
import { isSettled, type Outcome, type TaskRecord } from '../../entities/task.ts'
import { type NewCall, type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import type { WaitParams } from '../../machines/family.ts'
import type { TreeLimits } from '../drafts/draft.ts'
import { type CreateRequest, create } from './create.ts'
import { loadLive, type RunRef } from './journal.ts'
import { failEntry, isOver } from './journal-closing.ts'
import { withdrawn } from './race.ts'
import { publishMove, saveMachine } from './save-machine.ts'
import type { StepContext } from './step-context.ts'
import { suspendRun } from './suspend.ts'
import { transition } from './transition.ts'
import { beginWait } from './wait.ts'
import { outcomesOf, takeOutcomes } from './wait-outcomes.ts'

/** A machine that becomes a task below this one, and the wait for it. */
export interface ChildMachine {
  trees: CreateRequest['trees']
  wait: NewCall
}

export interface MachineStep {
  /** The entry as it will be: new, or the one that `isNew: false` names. */
  entry: NewCall
  isNew: boolean
  details: Omit<MachineDetails, 'since'>
  /** The `since` of before, when a promise goes on that began earlier; absent: from here on. */
  since?: number | undefined
  /** The signal that is consumed. */
  takes?: number | undefined
  /** What the machine has consumed, for the audit trail; absent: it has not moved. */
  event?: string | undefined
  /** The waits whose ends are consumed, and those that are not needed any more, with open questions. */
  ends: readonly string[]
  children: readonly ChildMachine[]
  treeLimits: TreeLimits
  /** Begun again in a new attempt. */
  waits: readonly NewCall[]
  /** Tasks of machines that were stopped. */
  stops: readonly string[]
  /** Made once, because each keeps what it has matched outside of the step. */
  sends: readonly Step<unknown>[]
  emitted: readonly MachineEvent[]
  logged: readonly string[]
  /** A question that is asked from now on. */
  question?: NewCall | undefined
}

/** Run it with `matchingOutside`. Only the live run of a task writes, so the situation is the one that the step was computed from. */
export function writeMachine(ref: RunRef, given: MachineStep, request: StepContext): Step<void> {
  return step('machine step', (tx) => write(tx, ref, given, request))
}

/**
 * The last step of a run whose machine only waits: the run is closed with it, and nothing of it is in flight. If something has arrived since,
 * the next run may begin at once.
 */
export function* restMachine(tx: Tx, ref: RunRef, given: MachineStep, request: StepContext): Op<void> {
  yield* write(tx, ref, given, request)
  // Sending to relatives may have changed its row.
  const task = (yield* tx.task.get(ref.taskId)) as TaskRecord
  const waits = (yield* tx.call.open(task.id)).filter((entry) => entry.kind !== 'call')
  let hasArrived = (yield* tx.signal.oldestKept(task.id)) !== undefined
  const { ask } = given.details.state
  if (ask !== undefined && (yield* tx.call.get(ask.callId))?.status === 'completed') hasArrived = true
  for (const wait of waits.filter(isOver)) {
    if ((yield* outcomesOf(tx, wait.params as WaitParams))[0]) hasArrived = true
    // Its machine was retried since: the edge is open again, and so is the wait.
    else yield* tx.call.save({ ...wait, details: null, updatedAt: request.at })
  }
  yield* suspendRun(tx, task, waits, hasArrived ? 1 : 0, request, { closed: true, journaled: true })
}

function* write(tx: Tx, ref: RunRef, given: MachineStep, request: StepContext): Op<void> {
  const task = yield* loadLive(tx, ref)
  const { taskId } = ref
  if (given.takes !== undefined) {
    yield* tx.signal.take({ taskId, seq: given.takes }, `${given.entry.id}/${given.details.state.step}`)
  }
  for (const id of given.ends) yield* endEntry(tx, task, id, request)
  yield* stopChildren(tx, given.stops, request)
  for (const { trees, wait } of given.children) {
    yield* create({ ...request, treeLimits: given.treeLimits, trees }).decide(tx)
    yield* beginWait(wait, request).decide(tx)
  }
  for (const wait of given.waits) yield* beginWait(wait, request).decide(tx)
  for (const send of given.sends) yield* send.decide(tx)
  const { entry, isNew, details, emitted, logged, event } = given
  const since = given.since ?? (yield* tx.call.lastSeq(entry.taskId)) + 1
  yield* saveMachine(tx, entry, isNew, { ...details, since }, request)
  yield* publishMove(tx, task, details.state, { event, emitted, logged }, request)
  if (given.question !== undefined) yield* tx.call.insert(given.question)
}

function* endEntry(tx: Tx, task: TaskRecord, id: string, ctx: StepContext): Op<void> {
  const entry = yield* tx.call.get(id)
  if (entry?.status !== 'pending') return
  if (isOver(entry)) yield* takeOutcomes(tx, entry, ctx.at)
  else yield* failEntry(tx, task, entry, withdrawn, ctx)
}

function* stopChildren(tx: Tx, ids: readonly string[], ctx: StepContext): Op<void> {
  for (const id of ids) {
    const child = yield* tx.task.get(id)
    if (child === undefined || isSettled(child.status)) continue
    yield* transition(tx, child, 'cancel', ctx, { set: { statusReason: 'its state was left' } })
  }
}

/** What has arrived for a machine since. */
export interface Arrivals {
  signal: { seq: number; name: string; payload: unknown; createdAt: number } | undefined
  /** The number of signals that no macrostep has consumed. */
  kept: number
  /** Waits for machines that are over, with the outcome; and the question, if it is answered. */
  ended: Array<{ callId: string; outcome?: Outcome; answer?: unknown }>
  /** What the machines that are tasks show, by task. */
  shown: Map<string, unknown>
}

export function* arrivalsOf(
  tx: Reads,
  taskId: string,
  waits: readonly string[],
  machines: readonly string[],
): Op<Arrivals> {
  const ended: Arrivals['ended'] = []
  for (const callId of waits) {
    const call = yield* tx.call.get(callId)
    if (call === undefined) continue
    if (call.kind === 'wait' && (call.status !== 'pending' || isOver(call))) {
      const [outcome] = yield* outcomesOf(tx, call.params as WaitParams)
      if (outcome) ended.push({ callId, outcome })
    } else if (call.kind === 'ask' && call.status === 'completed') ended.push({ callId, answer: call.result })
  }
  const shown = new Map<string, unknown>()
  for (const id of machines) {
    const entry = yield* machineEntryOf(tx, id)
    if (entry !== undefined) shown.set(id, snapshotShown((entry.details as MachineDetails).state))
  }
  const signal = yield* tx.signal.oldestKept(taskId)
  return { signal, kept: signal === undefined ? 0 : yield* tx.signal.countKept(taskId), ended, shown }
}

/** What other machines see of one. */
export function snapshotShown({ status, value, context, output }: MachineDetails['state']): object {
  return { status, value, context, ...(output === undefined ? {} : { output }) }
}

/** What a run of a machine may ask for again. A new attempt reads all, because the attempt before has closed the entry of the machine. */
export function* entriesOfMachine(tx: Reads, taskId: string): Op<CallRecord[]> {
  const entry = (yield* tx.call.open(taskId)).find(({ kind }) => kind === 'machine')
  if (entry === undefined) return yield* tx.call.list(taskId)
  const { since } = entry.details as MachineDetails
  return [entry, ...(yield* tx.call.since(taskId, since, [...callKinds]))]
}

/** The latest entry of the machine of a task; undefined for a task without one. */
export function* machineEntryOf(tx: Reads, taskId: string): Op<CallRecord | undefined> {
  const open = (yield* tx.call.open(taskId)).find(({ kind }) => kind === 'machine')
  return open ?? (yield* tx.call.list(taskId, ['machine'])).at(-1)
}
