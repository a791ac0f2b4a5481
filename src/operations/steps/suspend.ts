// What becomes of a quiet run: nothing of it is in flight, and it waits for an answer, for other tasks or for a time. It is suspended, or
// parked when its function stays in memory.

import type { CallRecord } from '../../entities/call.ts'
import type { MachineDetails } from '../../entities/machine.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { type Op, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { decideQuestion } from '../../machines/question-machine.ts'
import type { TransitionData } from '../../machines/task-machine.ts'
import { amend } from './amend.ts'
import type { RunRef } from './journal.ts'
import { isOver } from './journal-closing.ts'
import { moveRun } from './park.ts'
import { eventOf, type StepContext } from './step-context.ts'
import { transition } from './transition.ts'

export interface SuspendRequest extends StepContext, RunRef {
  /** Entries that the run waits for. One that is over would never wake the task: the run continues with it instead. */
  waits: readonly string[]
}

/** Returns whether the run has ended: false when one of its waits is over. Nothing of the run is in flight. */
export function suspend(request: SuspendRequest): Step<boolean> {
  return step('suspend', function* (tx) {
    const task = yield* tx.task.get(request.taskId)
    if (task?.run !== request.run || task.status !== 'working') return false
    const waits = yield* openWaitsOf(tx, task, request)
    if (waits === undefined) return false
    // Waits that ended since the request have woken no run: the next run may start at once.
    yield* suspendRun(tx, task, waits, waits.filter(isOver).length, request)
    return true
  })
}

/** Returns whether the run is parked: false when one of its waits is over. Nothing of the run is in flight. */
export function park(request: SuspendRequest): Step<boolean> {
  return step('park', function* (tx) {
    const task = yield* tx.task.get(request.taskId)
    if (task?.run !== request.run || task.status !== 'working') return false
    const waits = yield* openWaitsOf(tx, task, request)
    if (waits === undefined || waits.some(isOver) || (yield* hasArrived(tx, waits))) return false
    if (!(yield* moveRun(tx, request, 'park'))) return false
    // As with a suspension, a run that has come so far has not crashed its engine.
    yield* amend(tx, task, { wakes: 0, crashes: 0 }, request, 'run.parked', { run: request.run, waits: namesOf(waits) })
    return true
  })
}

/** Whether something is there for the machine of a task that it has not consumed: a signal, or a delayed event that is due. */
function* hasArrived(tx: Tx, waits: readonly CallRecord[]): Op<boolean> {
  const machine = waits.find(({ kind }) => kind === 'machine')
  if (machine === undefined) return false
  const isDue = machine.dueAt === null && (machine.details as MachineDetails).next !== null
  return isDue || (yield* tx.signal.oldestKept(machine.taskId)) !== undefined
}

const namesOf = (waits: readonly CallRecord[]) => waits.map(({ id, kind }) => ({ callId: id, kind }))

/** The entries that a run waits for; undefined when one of those that it names is over. */
function* openWaitsOf(tx: Tx, task: TaskRecord, { waits }: SuspendRequest): Op<CallRecord[] | undefined> {
  const open = (yield* tx.call.open(task.id)).filter((entry) => entry.kind !== 'call')
  return waits.every((id) => open.some((entry) => entry.id === id)) ? open : undefined
}

/** WORKING → WAITING or INPUT_REQUIRED. `settling`: the function of the run has returned. `waits`: the entries that the run waits for. `wakes`: above zero, the next run may start at once. */
export function* suspendRun(
  tx: Tx,
  task: TaskRecord,
  waits: readonly CallRecord[],
  wakes: number,
  ctx: StepContext,
  settling?: TransitionData['settling'],
): Op<TaskRecord> {
  const questions = waits.filter((entry) => entry.kind === 'ask')
  const suspended = yield* transition(tx, task, questions.length > 0 ? 'ask' : 'wait', ctx, {
    ...(settling === undefined ? { suspends: true } : { settling }),
    set: { wakes, crashes: 0 },
    data: { waits: namesOf(waits) },
  })
  for (const question of questions) yield* publishQuestion(tx, suspended, question, ctx)
  return suspended
}

/** Published once for each question, when it can be answered. */
function* publishQuestion(tx: Tx, task: TaskRecord, question: CallRecord, ctx: StepContext): Op<void> {
  const published = (question.details as { published?: boolean } | null)?.published === true
  if (decideQuestion(question.status, { type: 'publish', published }) === undefined) return
  yield* tx.call.save({ ...question, details: { published: true }, updatedAt: ctx.at })
  yield* tx.event.append(
    eventOf(ctx, 'question.asked', task, {
      questionId: question.id,
      ...(question.params as object),
      run: task.run,
      ...(question.dueAt === null ? {} : { dueAt: question.dueAt }),
    }),
  )
}
