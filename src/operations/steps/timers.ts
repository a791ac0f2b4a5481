// Timers: rows with a due time. A timer moves its task by an event, so it fires after any restart and any delay.

import { isoTime } from '../../core/clock.ts'
import type { StoredError } from '../../core/errors.ts'
import type { CallRecord } from '../../entities/call.ts'
import type { QuestionParams } from '../../entities/question.ts'
import type { RunRecord } from '../../entities/run.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { RetryPolicy } from '../../entities/task-fields.ts'
import { all, type Op, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { decideQuestion } from '../../machines/question-machine.ts'
import { isOver, writeLapse } from './claim.ts'
import { endRace } from './race.ts'
import { failAttempt } from './settle-run.ts'
import { eventOf, type StepContext } from './step-context.ts'
import { failAnywhere } from './transition.ts'
import { endRest, wake } from './wait.ts'

/** The maximum of timers of each kind in one step; the rest follow in the next. */
const batch = 200

export interface TimerRequest extends StepContext {
  /** From 0 to 1, for the jitter of next attempts. */
  chance: number
  retryOf(task: TaskRecord): RetryPolicy
  /** Milliseconds that a run of the task may take. */
  timeoutOf(task: TaskRecord): number | undefined
  /** The executors of this engine, whose runs, and only these, it times out. */
  executors: readonly string[]
}

/** Fires what is due. Returns the number of timers. */
export function fireTimers(request: TimerRequest): Step<number> {
  return step('fire timers', function* (tx) {
    const { at } = request
    const [rested, lapsed, calls, runs, late] = yield* all([
      tx.task.due(at, batch),
      tx.task.lapsed(at, batch),
      tx.call.due(at, batch),
      tx.run.due(at, batch, request),
      tx.task.late(at, batch),
    ])
    // First the timers of single rows: the later ones may cancel or fail whole families with these rows.
    // On a server a list locks nothing: another process may have changed its rows, and each is read again.
    for (const { id } of rested) {
      const task = yield* tx.task.get(id)
      if (isOver(task?.notBefore, at)) yield* endRest(tx, task as TaskRecord, request)
    }
    for (const { id } of lapsed) {
      const task = yield* tx.task.get(id)
      if (isOver(task?.leaseUntil, at)) yield* writeLapse(tx, task as TaskRecord, request)
    }
    for (const call of calls) yield* fireEntry(tx, call, request)
    for (const run of runs) yield* timeOutRun(tx, run, request)
    for (const task of late) yield* missDeadline(tx, task.id, request)
    return rested.length + lapsed.length + calls.length + runs.length + late.length
  })
}

/** A sleep, and a wait for a signal, end with null; a question takes its default; one without it, and a wait for tasks, fail with TIMEOUT. */
function* fireEntry(tx: Tx, { id, taskId }: CallRecord, ctx: StepContext): Op<void> {
  const task = yield* tx.task.get(taskId)
  if (!task) return
  const call = yield* tx.call.get(id)
  if (call === undefined || !isOver(call.dueAt, ctx.at)) return
  const outcome = outcomeAtDue(call)
  yield* tx.call.save({ ...call, ...outcome, dueAt: null, updatedAt: ctx.at })
  if (call.kind === 'wait') yield* tx.dependency.satisfyWaits(call.id, ctx.at)
  yield* endRace(tx, task, call.id, ctx)
  const last = call.kind !== 'ask' || !(yield* tx.call.open(task.id)).some((entry) => entry.kind === 'ask')
  const woken = last ? yield* wake(tx, task, call.id, ctx) : task
  yield* tx.event.append(eventOf(ctx, 'timer.fired', woken, { callId: call.id, kind: call.kind }))
}

function outcomeAtDue(call: CallRecord): Pick<CallRecord, 'status' | 'result' | 'error'> {
  // Its delayed events are in its situation: it looks for those that are due.
  if (call.kind === 'machine') return { status: 'pending', result: null, error: null }
  if (call.kind === 'sleep' || call.kind === 'signal') return { status: 'completed', result: null, error: null }
  const params = call.params as Partial<QuestionParams>
  const [lapsed] = decideQuestion(call.status, { type: 'lapse', hasDefault: 'default' in params }) ?? []
  if (call.kind === 'ask' && lapsed?.to === 'completed') {
    return { status: 'completed', result: params.default, error: null }
  }
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
  if (task?.run !== run.number || task.status !== 'working') return
  // Its limit when it started, unless it has been parked since.
  const timeoutMs = request.timeoutOf(task) ?? (run.dueAt as number) - run.startedAt
  const error: StoredError = {
    code: 'TIMEOUT',
    message: `Run ${run.number} took longer than ${timeoutMs} ms`,
    details: { run: run.number, timeoutMs },
  }
  const edge = { data: { attempt: task.attempt } }
  yield* failAttempt(tx, task, { error }, edge, { ...request, retry: request.retryOf(task) })
}

/** A task that has not settled by its deadline fails for good, in any state; the tasks of a group are canceled with it. */
function* missDeadline(tx: Tx, taskId: string, request: TimerRequest): Op<void> {
  const task = yield* tx.task.get(taskId)
  if (!task || task.completedAt !== null) return
  const error: StoredError = {
    code: 'TIMEOUT',
    message: `It was not done by its deadline, ${isoTime(task.deadline as number)}`,
    details: { deadline: task.deadline },
  }
  const cancelBelow = task.group ? { cancelBelow: 'the deadline of its group has passed' } : {}
  yield* failAnywhere(tx, { type: 'fail.anywhere', own: task, set: { error }, ...cancelBelow }, request)
}
