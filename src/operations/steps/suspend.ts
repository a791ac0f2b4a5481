// Suspends a quiet run: nothing of it is in flight, and it waits for an answer, for other tasks or for a time.

import type { CallRecord } from '../../entities/call.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { type Op, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { decideQuestion } from '../../machines/question-machine.ts'
import type { RunRef } from './journal.ts'
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
    const waits = (yield* tx.call.open(task.id)).filter((entry) => entry.kind !== 'call')
    if (request.waits.some((id) => !waits.some((entry) => entry.id === id))) return false
    const questions = waits.filter((entry) => entry.kind === 'ask')
    // Waits that ended since the request have woken no run: the next run may start at once.
    const wakes = waits.filter((entry) => (entry.details as { over?: boolean } | null)?.over === true).length
    const suspended = yield* transition(tx, task, questions.length > 0 ? 'ask' : 'wait', request, {
      suspends: true,
      set: { wakes, crashes: 0 },
      data: { waits: waits.map((entry) => ({ callId: entry.id, kind: entry.kind })) },
    })
    for (const question of questions) yield* publishQuestion(tx, suspended, question, request)
    return true
  })
}

/** Published once for each question, when it can be answered. */
function* publishQuestion(tx: Tx, task: TaskRecord, question: CallRecord, request: SuspendRequest): Op<void> {
  const published = (question.details as { published?: boolean } | null)?.published === true
  if (decideQuestion(question.status, { type: 'publish', published }) === undefined) return
  yield* tx.call.save({ ...question, details: { published: true }, updatedAt: request.at })
  yield* tx.event.append(
    eventOf(request, 'question.asked', task, {
      questionId: question.id,
      ...(question.params as object),
      run: request.run,
      ...(question.dueAt === null ? {} : { dueAt: question.dueAt }),
    }),
  )
}
