// A quiet run ends: nothing of it is in flight and it waits for an answer, for other tasks or for a time.

import type { CallRecord } from '../entities/call.ts'
import type { TaskRecord } from '../entities/task.ts'
import { inThree } from '../ledger/in-three.ts'
import type { Op, Reads, Step, Tx } from '../ledger/ledger.ts'
import { moved } from '../machines/task-transition.ts'
import { endRun } from './end-run.ts'
import { eventOf, type Moment } from './moment.ts'

export interface SuspendRequest extends Moment {
  taskId: string
  run: number
  /** Entries that the run waits for. One that is over by now would wake nobody any more: the run takes it up instead. */
  waits: readonly string[]
}

interface Loaded {
  task: TaskRecord | undefined
  open: CallRecord[]
}

type Verdict = { task: TaskRecord; waits: CallRecord[] } | null

/** Resolves to whether the run has ended: false when one of its waits is over. Nothing of the run is in flight. */
export function suspend(request: SuspendRequest): Step<boolean> {
  return inThree<Loaded, Verdict, boolean>({
    name: 'suspend',
    *load(tx: Reads): Op<Loaded> {
      return { task: yield* tx.task.get(request.taskId), open: yield* tx.call.open(request.taskId) }
    },
    judge({ task, open }) {
      if (!task || task.run !== request.run || task.status !== 'working') return null
      const waits = open.filter((entry) => entry.kind !== 'call')
      if (request.waits.some((id) => !waits.some((entry) => entry.id === id))) return null
      const event = waits.some((entry) => entry.kind === 'ask') ? 'ask' : 'wait'
      // What came to its end between the asking and now has woken nobody: the next run may start at once.
      const wakes = waits.filter((entry) => (entry.details as { over?: boolean } | null)?.over === true).length
      return { task: moved(task, event, request.at, { wakes, crashes: 0 }), waits }
    },
    *write(tx: Tx, verdict): Op<boolean> {
      if (verdict === null) return false
      const { task, waits } = verdict
      yield* endRun(tx, task, task.status === 'input_required' ? 'input_required' : 'waiting', request)
      yield* tx.task.save(task)
      const type = task.status === 'input_required' ? 'task.input_required' : 'task.waiting'
      yield* tx.event.append(
        eventOf(request, type, task, {
          from: 'working',
          run: request.run,
          waits: waits.map((entry) => ({ callId: entry.id, kind: entry.kind })),
        }),
      )
      for (const entry of waits) if (entry.kind === 'ask') yield* publishQuestion(tx, task, entry, request)
      return true
    },
  })
}

/** Once for each question, when it can be answered. */
function* publishQuestion(tx: Tx, task: TaskRecord, question: CallRecord, request: SuspendRequest): Op<void> {
  if ((question.details as { published?: boolean } | null)?.published) return
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
