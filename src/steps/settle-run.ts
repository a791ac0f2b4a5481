// The outcome of a run whose executor has settled: the task takes it if the run is still the task's live one. The run is closed
// with it, unless one of its calls is still in flight: then it has ended, and is closed when these have settled (close-run.ts).

import type { RunOutcome, RunRecord } from '../entities/run.ts'
import { isSettled, type RetryPolicy, type TaskRecord } from '../entities/task.ts'
import type { StoredError } from '../errors.ts'
import { inThree } from '../ledger/in-three.ts'
import type { Op, Reads, Step, Tx } from '../ledger/ledger.ts'
import { awaitsChildren, isHeldUp, retryDelay } from '../machines/family.ts'
import { moved } from '../machines/task-transition.ts'
import { announce } from './announcements.ts'
import { closeEntries, endedWith, isIdle, isInFlight } from './journal-closing.ts'
import { dueAfter, eventOf, type Moment } from './moment.ts'
import { settleFamily } from './settle-family.ts'

/** What an executor returned or threw. */
export type ExecutorOutcome =
  | { kind: 'returned'; result: unknown }
  | { kind: 'threw'; error: StoredError; final: boolean; retryAfterMs?: number }

export interface SettleRunRequest extends Moment {
  taskId: string
  run: number
  outcome: ExecutorOutcome
  retry: RetryPolicy
  /** From 0 to 1, for the jitter of the next attempt. */
  chance: number
  /** Journal entries of this attempt that the run did not ask for again. */
  diverged: string[]
  /** The run has made journal entries that may still be open. */
  journaled: boolean
  /** Number of the last message of the conversation that the run has read; null for one that reads none. */
  readThrough: number | null
}

interface Loaded {
  task: TaskRecord | undefined
  childrenOpen: boolean
  /** A message was sent that the run has not read: its answer is not the last word. */
  unread: boolean
  /** A call of the run has no outcome yet. */
  inFlight: boolean
}

interface Verdict {
  task: TaskRecord
  outcome: RunOutcome
  error: StoredError | null
  retried: TaskRecord | null
}

/** Resolves to whether the run is still open: it had ended before, or a call is in flight. `closeRun` closes it then. */
export function settleRun(request: SettleRunRequest): Step<boolean> {
  return inThree<Loaded, Verdict | null, boolean>({
    name: 'settle run',
    *load(tx: Reads): Op<Loaded> {
      const { readThrough, taskId, journaled, outcome } = request
      const task = yield* tx.task.get(taskId)
      const asks = task?.policy.autoComplete && outcome.kind === 'returned'
      const children = asks ? yield* tx.task.childFacts(taskId) : undefined
      return {
        task,
        childrenOpen: task !== undefined && children?.any === true && isHeldUp(task, children),
        unread: readThrough !== null && (yield* tx.message.lastDelivered(taskId)) > readThrough,
        inFlight: journaled && (yield* tx.call.open(taskId)).some(isInFlight),
      }
    },
    judge: (loaded) => judge(request, loaded),
    *write(tx: Tx, verdict): Op<boolean> {
      if (verdict === null) return true
      yield* writeOutcome(tx, verdict, request)
      return (verdict.retried ?? verdict.task).runOpen
    },
  })
}

/** Null when the run has ended before: the outcome of its executor is ignored. */
function judge(request: SettleRunRequest, { task, childrenOpen, unread, inFlight }: Loaded): Verdict | null {
  if (!task || task.run !== request.run || task.status !== 'working') return null
  const { outcome, at } = request
  const ended = { runOpen: inFlight, crashes: 0 }
  if (outcome.kind === 'threw')
    return judgeFailure(request, task, moved(task, 'fail', at, { ...ended, error: outcome.error }))
  const settled = { error: null, retried: null }
  if (unread) {
    const waiting = moved(task, 'wait', at, { ...ended, statusReason: 'message', wakes: 1 })
    return { ...settled, outcome: 'waiting', task: waiting }
  }
  const result = outcome.result
  if (childrenOpen) {
    const waiting = moved(task, 'wait', at, { ...ended, result, statusReason: 'children', wakes: 0 })
    return { ...settled, outcome: 'waiting', task: waiting }
  }
  return { ...settled, outcome: 'completed', task: moved(task, 'complete', at, { ...ended, result, error: null }) }
}

function judgeFailure(request: SettleRunRequest, task: TaskRecord, failed: TaskRecord): Verdict {
  const { error, final, retryAfterMs } = request.outcome as ExecutorOutcome & { kind: 'threw' }
  const attempt = { attempt: task.attempt, code: error.code, final, retryAfterMs }
  const delay = retryDelay(request.retry, attempt, request.chance)
  const retried = delay === undefined ? null : nextAttempt(failed, request.at, delay)
  return { outcome: 'failed', task: failed, error, retried }
}

/** FAILED → SUBMITTED with the next attempt, resting for a while. */
export function nextAttempt(failed: TaskRecord, at: number, delayMs: number): TaskRecord {
  return moved(failed, 'retry', at, {
    attempt: failed.attempt + 1,
    error: null,
    result: null,
    wakes: 0,
    crashes: 0,
    held: false,
    notBefore: delayMs > 0 ? dueAfter(at, delayMs) : null,
  })
}

function* writeOutcome(tx: Tx, verdict: Verdict, request: SettleRunRequest): Op<void> {
  const { task, outcome, error } = verdict
  // Waits and calls that never began go on with the task, unless its own work is done.
  const isDone = isSettled(task.status) || awaitsChildren(task)
  if (request.journaled && isDone) yield* closeEntries(tx, task, isIdle, () => endedWith(task), request)
  if (error !== null && request.readThrough !== null) yield* announceFailure(tx, task, error, request)
  yield* tx.run.save(endedRun(request, outcome, error, task.runOpen))
  if (request.diverged.length > 0) {
    yield* tx.event.append(eventOf(request, 'task.diverged', task, { run: request.run, entries: request.diverged }))
  }
  yield* publishOutcome(tx, verdict, request)
}

function endedRun(
  { taskId, run, at }: SettleRunRequest,
  outcome: RunOutcome,
  error: StoredError | null,
  open: boolean,
): Pick<RunRecord, 'taskId' | 'number' | 'status' | 'outcome' | 'error' | 'endedAt' | 'closedAt'> {
  const status = open ? 'ending' : 'closed'
  return { taskId, number: run, status, outcome, error, endedAt: at, closedAt: open ? null : at }
}

/** People who read the conversation find its end there (conformance S0-079). */
function* announceFailure(tx: Tx, task: TaskRecord, error: StoredError, request: SettleRunRequest): Op<void> {
  const id = `${task.id.replace(/^task-/, 'msg-')}-failed-${request.run}`
  yield* announce(tx, task, id, `Task failed: ${error.message}`, request)
}

/** Writes the state and the events of an outcome, and what it sets off in the family. */
export function* publishOutcome(
  tx: Tx,
  { task, error, retried }: { task: TaskRecord; error: StoredError | null; retried: TaskRecord | null },
  moment: Moment,
): Op<TaskRecord> {
  const data = { from: 'working', run: task.run, attempt: task.attempt }
  if (task.status === 'waiting') {
    yield* tx.task.save(task)
    yield* tx.event.append(eventOf(moment, 'task.waiting', task, { ...data, reason: task.statusReason }))
    return task
  }
  if (task.status === 'completed') {
    yield* tx.task.save(task)
    yield* tx.event.append(eventOf(moment, 'task.completed', task, data))
    yield* settleFamily(tx, [task], moment)
    return task
  }
  yield* tx.event.append(eventOf(moment, 'task.failed', task, { ...data, error, willRetry: retried !== null }))
  if (retried === null) {
    yield* tx.task.save(task)
    yield* settleFamily(tx, [task], moment)
    return task
  }
  yield* tx.task.save(retried)
  yield* tx.event.append(eventOf(moment, 'task.retried', retried, { from: 'failed', attempt: retried.attempt }))
  return retried
}
