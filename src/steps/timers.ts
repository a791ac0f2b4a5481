// Timers: rows with a due time. A timer flips what it stands on by an event, so it fires after any restart and at any distance.

import { isoTime } from '../clock.ts'
import type { CallRecord } from '../entities/call.ts'
import type { QuestionParams } from '../entities/question.ts'
import type { RunRecord } from '../entities/run.ts'
import type { RetryPolicy, TaskRecord } from '../entities/task.ts'
import type { StoredError } from '../errors.ts'
import { inThree } from '../ledger/in-three.ts'
import type { Op, OwnRuns, Reads, Step, Tx } from '../ledger/ledger.ts'
import { retryDelay } from '../machines/family.ts'
import { moved, touched } from '../machines/task-transition.ts'
import { writeLapse } from './claim.ts'
import { endRun } from './end-run.ts'
import { closeEntries, endedWith, isIdle } from './journal-closing.ts'
import { eventOf, type Moment } from './moment.ts'
import { wake } from './rouse.ts'
import { cancelBelow, type Ended, failWhereItStands, settleAll } from './settle-family.ts'
import { nextAttempt, publishOutcome } from './settle-run.ts'

/** At most so many of each kind in one step: the rest follow in the next. */
const batch = 200

interface Due {
  tasks: TaskRecord[]
  lapsed: TaskRecord[]
  late: TaskRecord[]
  calls: CallRecord[]
  runs: RunRecord[]
}

export interface TimerRequest extends Moment {
  /** From 0 to 1, for the jitter of next attempts. */
  chance: number
  retryOf(task: TaskRecord): RetryPolicy
  /** Executors of this engine: it times out their runs, and its own. Those of others are none of its business. */
  executors: readonly string[]
}

/** Fires what is due; resolves to how many timers that were. */
export function fireTimers(request: TimerRequest): Step<number> {
  return inThree<Due, Due, number>({
    name: 'fire timers',
    *load(tx): Op<Due> {
      return {
        tasks: yield* tx.task.due(request.at, batch),
        lapsed: yield* tx.task.lapsed(request.at, batch),
        late: yield* tx.task.late(request.at, batch),
        calls: yield* tx.call.due(request.at, batch),
        runs: yield* tx.run.due(request.at, batch, request),
      }
    },
    judge: (due) => due,
    *write(tx, due): Op<number> {
      // First what touches a row of its own: what follows may cancel or fail whole families, and those rows with them.
      for (const task of due.tasks) yield* fireStart(tx, task, request)
      for (const task of due.lapsed) yield* writeLapse(tx, task, request)
      for (const call of due.calls) yield* fireEntry(tx, call, request)
      for (const run of due.runs) yield* timeOutRun(tx, run, request)
      for (const task of due.late) yield* missDeadline(tx, task.id, request)
      return Object.values(due).reduce((fired, each: unknown[]) => fired + each.length, 0)
    },
  })
}

/** When the next timer that an engine fires is due; undefined without one. */
export function* nextDue(tx: Reads, own: OwnRuns): Op<number | undefined> {
  const times = [yield* tx.task.nextDue(), yield* tx.call.nextDue(), yield* tx.run.nextDue(own)]
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** `notBefore` has passed: cleared, so that readiness needs no clock. */
function* fireStart(tx: Tx, task: TaskRecord, moment: Moment): Op<void> {
  const free = touched(task, moment.at, { notBefore: null })
  yield* tx.task.save(free)
  if (free.completedAt === null) yield* tx.event.append(eventOf(moment, 'timer.fired', free))
}

/** A sleep ends; a question takes its default; a question without one, and a wait, fail with TIMEOUT. */
function* fireEntry(tx: Tx, call: CallRecord, moment: Moment): Op<void> {
  const task = yield* tx.task.get(call.taskId)
  if (!task) return
  const outcome = outcomeAtDue(call)
  yield* tx.call.save({ ...call, ...outcome, dueAt: null, updatedAt: moment.at })
  if (call.kind === 'wait') yield* tx.dependency.satisfyWaits(call.id, moment.at)
  const last = call.kind !== 'ask' || !(yield* tx.call.open(task.id)).some((entry) => entry.kind === 'ask')
  const woken = last ? yield* wake(tx, task, call.id, moment) : task
  yield* tx.event.append(eventOf(moment, 'timer.fired', woken, { callId: call.id, kind: call.kind }))
}

function outcomeAtDue(call: CallRecord): Pick<CallRecord, 'status' | 'result' | 'error'> {
  if (call.kind === 'sleep') return { status: 'completed', result: null, error: null }
  const params = call.params as Partial<QuestionParams>
  if (call.kind === 'ask' && 'default' in params) return { status: 'completed', result: params.default, error: null }
  const what = call.kind === 'ask' ? 'The question was not answered' : 'The tasks did not settle'
  return {
    status: 'failed',
    result: null,
    error: { code: 'TIMEOUT', message: `${what} in time`, details: { callId: call.id } },
  }
}

/** A run that took too long ends at once; its attempt has failed. */
function* timeOutRun(tx: Tx, run: RunRecord, request: TimerRequest): Op<void> {
  const task = yield* tx.task.get(run.taskId)
  if (!task || task.run !== run.number || task.status !== 'working') return
  const policy = request.retryOf(task)
  const error: StoredError = {
    code: 'TIMEOUT',
    message: `Run ${run.number} took longer than ${(run.dueAt as number) - run.startedAt} ms`,
    details: { run: run.number, timeoutMs: (run.dueAt as number) - run.startedAt },
  }
  const failed = moved(task, 'fail', request.at, { error })
  yield* endRun(tx, task, 'failed', request, error)
  yield* closeEntries(tx, failed, isIdle, () => endedWith(failed), request)
  const delay = retryDelay(policy, { attempt: task.attempt, code: error.code }, request.chance)
  yield* publishOutcome(
    tx,
    { task: failed, error, retried: delay === undefined ? null : nextAttempt(failed, request.at, delay) },
    request,
  )
}

/** A task that has not settled by its deadline fails for good, from whatever state; what a group holds is canceled with it. */
function* missDeadline(tx: Tx, taskId: string, request: TimerRequest): Op<void> {
  const task = yield* tx.task.get(taskId)
  if (!task || task.completedAt !== null) return
  const error: StoredError = {
    code: 'TIMEOUT',
    message: `It was not done by its deadline, ${isoTime(task.deadline as number)}`,
    details: { deadline: task.deadline },
  }
  const ended: Ended[] = task.group ? yield* cancelBelow(tx, task, 'the deadline of its group is over', request) : []
  ended.push({ task: yield* failWhereItStands(tx, task, error, request) })
  yield* settleAll(tx, ended, request)
}
