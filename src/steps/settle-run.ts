// The end of a run whose executor has settled, or was given up: the task takes its outcome if the run is still the task's live
// one, and the run is closed. A run that had ended before (paused, canceled, waiting) is only closed; what its executor
// returned is ignored.
import type { CallRecord } from '../entities/call.ts'
import type { RunOutcome, RunRecord } from '../entities/run.ts'
import { isSettled, type RetryPolicy, type TaskRecord } from '../entities/task.ts'
import type { StoredError } from '../errors.ts'
import type { Op, Reads, Step, Tx } from '../ledger/ledger.ts'
import { awaitsChildren, isHeldUp, retryDelay } from '../machines/family.ts'
import { moved, touched } from '../machines/task-transition.ts'
import { announce } from './announcements.ts'
import { closeEntries, endedWith, isIdle, isInFlight } from './journal-closing.ts'
import { dueAfter, eventOf, type Moment } from './moment.ts'
import { settleFamily } from './settle-family.ts'

/** What came of an executor. `ignored`: it settled after its run had ended, or was given up. */
export type ExecutorOutcome =
  | { kind: 'returned'; result: unknown }
  | { kind: 'threw'; error: StoredError; final: boolean; retryAfterMs?: number }
  | { kind: 'ignored' }

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
  /** Calls of it are still in flight: the outcome counts now, and the run is closed when they have settled. */
  callsOpen: boolean
}

interface Loaded {
  task: TaskRecord | undefined
  childrenOpen: boolean
  /** Somebody has sent a message that the run has not read: its answer is not the last word. */
  unread: boolean
}

/** `stale`: somebody else has closed the run meanwhile, and the fence is up. */
export interface Settlement {
  stale: boolean
  task: TaskRecord | undefined
}

export function settleRun(request: SettleRunRequest): Step<Loaded, Verdict, Settlement> {
  return {
    name: 'settle run',
    *load(tx: Reads): Op<Loaded> {
      const task = yield* tx.task.get(request.taskId)
      const asks = task?.policy.autoComplete && request.outcome.kind === 'returned'
      const children = asks ? yield* tx.task.childFacts(request.taskId) : undefined
      const { readThrough, taskId } = request
      return {
        task,
        childrenOpen: task !== undefined && children?.any === true && isHeldUp(task, children),
        unread: readThrough !== null && (yield* tx.message.lastDelivered(taskId)) > readThrough,
      }
    },
    judge: (loaded) => judge(request, loaded),
    *write(tx: Tx, verdict): Op<Settlement> {
      if (verdict.kind === 'stale') return { stale: true, task: verdict.task }
      if (verdict.kind === 'close') return { stale: false, task: yield* closeEnded(tx, verdict.task, request) }
      return { stale: false, task: yield* writeOutcome(tx, verdict, request) }
    },
  }
}

type Verdict =
  | { kind: 'stale'; task: TaskRecord | undefined }
  | { kind: 'close'; task: TaskRecord }
  | { kind: 'settle'; outcome: RunOutcome; task: TaskRecord; error: StoredError | null; retried: TaskRecord | null }

function judge(request: SettleRunRequest, { task, childrenOpen, unread }: Loaded): Verdict {
  if (!task || task.run !== request.run || !task.runOpen) return { kind: 'stale', task }
  const { outcome } = request
  if (task.status !== 'working' || outcome.kind === 'ignored') return { kind: 'close', task }
  const ended = { runOpen: request.callsOpen, crashes: 0 }
  if (outcome.kind === 'returned' && unread) {
    const waiting = moved(task, 'wait', request.at, { ...ended, statusReason: 'message', wakes: 1 })
    return { kind: 'settle', outcome: 'waiting', task: waiting, error: null, retried: null }
  }
  if (outcome.kind === 'returned') {
    const settled = childrenOpen
      ? moved(task, 'wait', request.at, { ...ended, result: outcome.result, statusReason: 'children', wakes: 0 })
      : moved(task, 'complete', request.at, { ...ended, result: outcome.result, error: null })
    return {
      kind: 'settle',
      outcome: childrenOpen ? 'waiting' : 'completed',
      task: settled,
      error: null,
      retried: null,
    }
  }
  const failed = moved(task, 'fail', request.at, { ...ended, error: outcome.error })
  const { final, retryAfterMs } = outcome
  const attempt = { attempt: task.attempt, code: outcome.error.code, final, retryAfterMs }
  const delay = retryDelay(request.retry, attempt, request.chance)
  return {
    kind: 'settle',
    outcome: 'failed',
    task: failed,
    error: outcome.error,
    retried: delay === undefined ? null : nextAttempt(failed, request.at, delay),
  }
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

function* writeOutcome(tx: Tx, verdict: Verdict & { kind: 'settle' }, request: SettleRunRequest): Op<TaskRecord> {
  const { task, outcome, error } = verdict
  if (request.journaled) yield* closeJournal(tx, task, request)
  if (error !== null && request.readThrough !== null) yield* tellFailure(tx, task, error, request)
  const run = closedRun(request, outcome, error)
  yield* tx.run.save(request.callsOpen ? { ...run, status: 'ending', closedAt: null } : run)
  if (request.diverged.length > 0) {
    yield* tx.event.append(eventOf(request, 'task.diverged', task, { run: request.run, entries: request.diverged }))
  }
  return yield* publishOutcome(tx, verdict, request)
}

/** People who read the conversation find its end there (conformance S0-079). */
function* tellFailure(tx: Tx, task: TaskRecord, error: StoredError, request: SettleRunRequest): Op<void> {
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
  yield* tx.event.append(
    eventOf(moment, 'task.retried', retried, {
      from: 'failed',
      attempt: retried.attempt,
      ...(retried.notBefore === null ? {} : { dueAt: retried.notBefore }),
    }),
  )
  return retried
}

/** The run had ended before: its calls are closed as interrupted, and the task may have its next run. */
function* closeEnded(tx: Tx, task: TaskRecord, request: SettleRunRequest): Op<TaskRecord> {
  if (request.journaled) yield* closeJournal(tx, task, request)
  const run = yield* tx.run.get(request.taskId, request.run)
  if (run)
    yield* tx.run.save({
      ...run,
      ...closedRun(request, run.outcome ?? 'released', run.error),
      endedAt: run.endedAt ?? request.at,
    })
  // A live run that is given up without an outcome is let go: the task is ready for another holder.
  const free =
    task.status === 'working'
      ? moved(task, 'wait', request.at, { runOpen: false, statusReason: 'released', wakes: 0 })
      : touched(task, request.at, { runOpen: false, crashes: 0 })
  yield* tx.task.save(free)
  if (task.status === 'working') {
    yield* tx.event.append(
      eventOf(request, 'task.waiting', free, { from: 'working', run: request.run, reason: 'released' }),
    )
  }
  yield* tx.event.append(eventOf(request, 'run.closed', free, { run: request.run }))
  return free
}

/** Calls still in flight may have happened: interrupted. Waits and calls not begun go on with the task, unless its own work is done. */
function* closeJournal(tx: Tx, task: TaskRecord, request: SettleRunRequest): Op<void> {
  if (!request.callsOpen) yield* closeEntries(tx, task, isInFlight, (call) => brokenOff(call, task), request)
  const isDone = isSettled(task.status) || awaitsChildren(task)
  if (isDone) yield* closeEntries(tx, task, isIdle, () => endedWith(task), request)
}

function brokenOff(call: CallRecord, task: TaskRecord): StoredError {
  const why =
    task.status === 'canceled'
      ? `The task was canceled before the call had ended${task.statusReason ? ` (${task.statusReason})` : ''}`
      : 'The run ended before the call did'
  return {
    code: 'CALL_INTERRUPTED',
    message: `${why}: it may have happened`,
    details: { call: call.name },
  }
}

function closedRun(
  request: SettleRunRequest,
  outcome: RunOutcome,
  error: StoredError | null,
): Pick<RunRecord, 'taskId' | 'number' | 'status' | 'outcome' | 'error' | 'endedAt' | 'closedAt'> {
  return {
    taskId: request.taskId,
    number: request.run,
    status: 'closed',
    outcome,
    error,
    endedAt: request.at,
    closedAt: request.at,
  }
}
