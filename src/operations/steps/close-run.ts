// Closes a run that has ended, once its executor and its calls have settled or their grace is over. Until then the task has no other run.
// Calls still in flight may have taken effect: they are recorded as interrupted, and later outcomes of them are refused.

import type { StoredError } from '../../core/errors.ts'
import { type CallRecord, interruptedError, isInDoubt, mayStillRun } from '../../entities/call.ts'
import type { RunRecord, RunStatus } from '../../entities/run.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { type Op, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { decideRun } from '../../machines/run-machine.ts'
import { amend } from './amend.ts'
import type { RunRef } from './journal.ts'
import { closeEntries, isInFlight } from './journal-closing.ts'
import { parkedRun } from './park.ts'
import type { StepContext } from './step-context.ts'
import { suspendRun } from './suspend.ts'
import { transition } from './transition.ts'

/** Closes the run if it is still open. If it has not ended, it is released first: its task is then ready for another holder. */
export const closeRun = (ref: RunRef, ctx: StepContext): Step<void> => step('close run', decideClosing, { ref, ctx })

function* decideClosing(tx: Tx, { ref, ctx }: { ref: RunRef; ctx: StepContext }): Op<void> {
  const task = yield* tx.task.get(ref.taskId)
  if (task?.run !== ref.run || !task.runOpen) return
  const ended = task.status === 'working' ? yield* releaseRun(tx, task, 'released', ctx) : task
  yield* closeEndedRun(tx, { ...ended, crashes: 0 }, ctx)
}

/** WORKING → WAITING: the task is ready for another holder, unless it waits for others. */
export function* releaseRun(
  tx: Tx,
  task: TaskRecord,
  reason: 'released' | 'interrupted',
  ctx: StepContext,
  crashes: number = task.crashes,
): Op<TaskRecord> {
  // A run that only waited leaves an ordinary wait behind. One that was about to go on does so in the next run: what it waited for may have
  // ended by its time-out, and wakes no task any more.
  const parked = yield* parkedRun(tx, task)
  if (parked !== undefined) {
    const waits = (yield* tx.call.open(task.id)).filter(({ kind }) => kind !== 'call')
    return yield* suspendRun(tx, task, waits, parked.status === 'queued' ? 1 : 0, ctx)
  }
  const set = { statusReason: reason, wakes: 0, crashes }
  return yield* transition(tx, task, 'wait', ctx, { set, outcome: reason })
}

/** An engine whose runs another engine takes over. */
export interface FormerHolder {
  instanceId: string
  /** `interrupted`: the engine died or hangs. `released`: it closes, which does not count as a crash. */
  reason: 'interrupted' | 'released'
  /** The calls whose commands may still run. Default: none. */
  inDoubt?: ReadonlySet<string>
}

/** Closes the ended run of a task and its calls in flight. */
export function* closeEndedRun(tx: Tx, task: TaskRecord, ctx: StepContext, former?: FormerHolder): Op<void> {
  const inDoubt = former?.inDoubt ?? new Set()
  const errorOf = (call: CallRecord): StoredError => {
    const error = brokenOff(call, task, former)
    return inDoubt.has(call.id) ? mayStillRun(error) : error
  }
  const run = (yield* tx.run.get(task.id, task.run)) as RunRecord
  for (const { to, actions } of decideRun(run.status, { type: 'close' }) ?? []) {
    if (actions.some(({ type }) => type === 'interruptCalls')) {
      yield* closeEntries(tx, task, isInFlight, errorOf, ctx)
      if (inDoubt.size > 0) yield* noteDoubts(tx, task, inDoubt)
    }
    yield* tx.run.save({ ...run, status: to as RunStatus, closedAt: ctx.at })
  }
  const lost = former === undefined ? {} : { lost: former.instanceId }
  yield* amend(tx, task, { runOpen: false }, ctx, 'run.closed', { run: task.run, ...lost })
}

/** Marks also the calls of the run that were closed before, while their functions still worked. */
function* noteDoubts(tx: Tx, task: TaskRecord, inDoubt: ReadonlySet<string>): Op<void> {
  for (const call of yield* tx.call.list(task.id, ['call'])) {
    if (!inDoubt.has(call.id) || call.run !== task.run || call.error?.code !== 'CALL_INTERRUPTED') continue
    if (!isInDoubt(call)) yield* tx.call.save({ ...call, error: mayStillRun(call.error) })
  }
}

/** The error of a call that was begun and may have taken effect. Only the death of an engine is reported as a crash. */
function brokenOff({ name }: CallRecord, task: TaskRecord, former: FormerHolder | undefined): StoredError {
  if (former?.reason === 'interrupted') return interruptedError(name)
  const why =
    former !== undefined
      ? 'The engine closed before the call ended'
      : task.status === 'canceled'
        ? `The task was canceled before the call had ended${task.statusReason ? ` (${task.statusReason})` : ''}`
        : task.status === 'completed'
          ? `The task completed without waiting for the call "${name}"`
          : 'The run ended before the call did'
  return { code: 'CALL_INTERRUPTED', message: `${why}: it may have happened`, details: { call: name } }
}
