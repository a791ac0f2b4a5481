// Settles a run whose executor has ended: the task takes the outcome if the run is still its live one. The run is closed as well, unless
// one of its calls is in flight: then it has ended, and is closed when its calls have settled (close-run.ts).

import type { StoredError } from '../../core/errors.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { RetryPolicy } from '../../entities/task-fields.ts'
import { type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { isHeldUp, retryDelay } from '../../machines/family.ts'
import type { TransitionData } from '../../machines/task-machine.ts'
import type { RunRef } from './journal.ts'
import { isInFlight } from './journal-closing.ts'
import { type MachineStep, restMachine } from './machine.ts'
import { dueAfter, type StepContext } from './step-context.ts'
import { transition } from './transition.ts'
import { announce } from './write-message.ts'

/** What an executor returned or threw. */
export type ExecutorOutcome =
  | { kind: 'returned'; result: unknown }
  /** It has called `run.continueAsNew`. */
  | { kind: 'continued'; input: unknown }
  /** The machine of the task only waits: this is its last step. */
  | { kind: 'rests'; step: MachineStep }
  | { kind: 'threw'; error: StoredError; retryAfterMs?: number | undefined }

export interface SettleRunRequest extends StepContext, RunRef {
  outcome: ExecutorOutcome
  retry: RetryPolicy
  /** From 0 to 1, for the jitter of the next attempt. */
  chance: number
  /** Journal entries of this attempt that the run did not request again. */
  diverged: string[]
  /** The run has made journal entries that may still be open. */
  journaled: boolean
  /** Number of the last message that the run has read; null for a run that reads none. */
  readThrough: number | null
}

/** Returns whether the run is still open: it had ended before, or a call is in flight. `closeRun` closes it then. */
export const settleRun = (request: SettleRunRequest): Step<boolean> => step('settle run', decideSettling, request)

function* decideSettling(tx: Tx, request: SettleRunRequest): Op<boolean> {
  const { taskId, run, outcome, journaled, diverged } = request
  const task = yield* tx.task.get(taskId)
  // The run had ended before: the outcome of its executor is ignored.
  if (task?.run !== run || task.status !== 'working') return true
  if (outcome.kind === 'rests') {
    yield* restMachine(tx, request, outcome.step, request)
    return false
  }
  const inFlight = journaled ? (yield* tx.call.open(taskId)).filter(isInFlight).map(({ name }) => name) : []
  const edge: TransitionData = {
    set: { crashes: 0 },
    data: { attempt: task.attempt, ...(inFlight.length > 0 && outcome.kind !== 'threw' ? { inFlight } : {}) },
    settling: { closed: inFlight.length === 0, journaled },
    ...(diverged.length > 0 && { cause: { type: 'task.diverged', data: () => ({ run, entries: diverged }) } }),
  }
  if (outcome.kind === 'continued') {
    const begun = setting(edge, nextGeneration(task, outcome.input), { generation: task.generation + 1 })
    return (yield* transition(tx, task, 'wait', request, begun)).runOpen
  }
  if (outcome.kind === 'returned') return (yield* settleReturned(tx, task, outcome.result, edge, request)).runOpen
  if (request.readThrough !== null) yield* announceFailure(tx, task, outcome.error, request)
  return (yield* failAttempt(tx, task, outcome, edge, request)).runOpen
}

function* settleReturned(
  tx: Tx,
  task: TaskRecord,
  result: unknown,
  edge: TransitionData,
  request: SettleRunRequest,
): Op<TaskRecord> {
  if (yield* hasUnread(tx, request)) {
    // An agent that has not read all messages waits and answers again.
    return yield* transition(tx, task, 'wait', request, setting(edge, { statusReason: 'message', wakes: 1 }))
  }
  if (task.policy.autoComplete) {
    const children = yield* tx.task.childFacts(task.id)
    if (children.any && isHeldUp(task, children)) {
      return yield* transition(tx, task, 'wait', request, setting(edge, { result, statusReason: 'children', wakes: 0 }))
    }
  }
  return yield* transition(tx, task, 'complete', request, setting(edge, { result, error: null }))
}

const setting = (edge: TransitionData, set: TransitionData['set'], data = {}): TransitionData => ({
  ...edge,
  set: { ...edge.set, ...set },
  data: { ...edge.data, ...data },
})

/** The task waits for a slot, in which its function begins anew with this input. What a retry by hand chose was for the generation before. */
function nextGeneration({ generation, policy }: TaskRecord, input: unknown): TransitionData['set'] {
  const { divergence: _earlier, repeat: _repeated, ...kept } = policy
  return {
    input,
    generation: generation + 1,
    attempt: 1,
    statusReason: 'continued',
    wakes: 1,
    result: null,
    error: null,
    policy: kept,
  }
}

function* hasUnread(tx: Reads, { taskId, readThrough }: SettleRunRequest): Op<boolean> {
  return readThrough !== null && (yield* tx.message.lastDelivered(taskId)) > readThrough
}

/** WORKING → FAILED, and on to SUBMITTED if the retry policy gives another attempt. Returns the task after that. */
export function* failAttempt(
  tx: Tx,
  task: TaskRecord,
  { error, retryAfterMs }: { error: StoredError; retryAfterMs?: number | undefined },
  edge: TransitionData,
  request: StepContext & { retry: RetryPolicy; chance: number },
): Op<TaskRecord> {
  const { attempt } = task
  const { code, final } = error
  const delayMs = retryDelay(request.retry, { attempt, code, final, retryAfterMs }, request.chance)
  const retry = delayMs === undefined ? undefined : nextAttempt(attempt + 1, delayMs, request)
  return yield* transition(tx, task, 'fail', request, { ...setting(edge, { error }), retry })
}

function nextAttempt(attempt: number, delayMs: number, { at }: StepContext): TransitionData['retry'] {
  const notBefore = delayMs > 0 ? dueAfter(at, delayMs) : null
  return { attempt, error: null, result: null, wakes: 0, crashes: 0, held: false, notBefore }
}

/** People who read the conversation see its end there. */
function* announceFailure(tx: Tx, task: TaskRecord, error: StoredError, request: SettleRunRequest): Op<void> {
  const id = `${task.id.replace(/^task-/, 'msg-')}-failed-${request.run}`
  yield* announce(tx, task, id, `Task failed: ${error.message}`, request)
}
