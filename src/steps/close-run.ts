// Closing a run that has ended: its executor and its calls have settled, or their grace is over. Until then the task has no other
// run. What is still in flight may have happened, and is closed as interrupted; later outcomes of it are refused.

import type { CallRecord } from '../entities/call.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { StoredError } from '../errors.ts'
import { inThree } from '../ledger/in-three.ts'
import type { Op, Step, Tx } from '../ledger/ledger.ts'
import { moved, touched } from '../machines/task-transition.ts'
import { endRun } from './end-run.ts'
import type { RunRef } from './journal.ts'
import { closeEntries, isInFlight } from './journal-closing.ts'
import { eventOf, type Moment } from './moment.ts'

/** Closes the run if it is still open. One that has not ended is released first: its task is ready for another holder. */
export function closeRun(ref: RunRef, moment: Moment): Step<void> {
  return inThree<TaskRecord | undefined, TaskRecord | null, void>({
    name: 'close run',
    load: (tx) => tx.task.get(ref.taskId),
    judge: (task) => (task?.run === ref.run && task.runOpen ? task : null),
    *write(tx, task): Op<void> {
      if (task === null) return
      const ended = task.status === 'working' ? yield* releaseRun(tx, task, 'released', moment) : task
      yield* closeEndedRun(tx, { ...ended, crashes: 0 }, {}, moment)
    },
  })
}

/** WORKING → WAITING: the task is ready for another holder. */
export function* releaseRun(
  tx: Tx,
  task: TaskRecord,
  reason: 'released' | 'interrupted',
  moment: Moment,
  crashes: number = task.crashes,
): Op<TaskRecord> {
  yield* endRun(tx, task, reason, moment)
  const free = moved(task, 'wait', moment.at, { statusReason: reason, wakes: 0, crashes })
  yield* tx.task.save(free)
  yield* tx.event.append(eventOf(moment, 'task.waiting', free, { from: 'working', run: task.run, reason }))
  return free
}

/** Closes the ended run of a task, and with it its calls in flight. `data` is what the event says beside the run. */
export function* closeEndedRun(
  tx: Tx,
  task: TaskRecord,
  data: { lost?: string },
  moment: Moment,
  errorOf: (call: CallRecord) => StoredError = (call) => brokenOff(call, task),
): Op<void> {
  yield* closeEntries(tx, task, isInFlight, errorOf, moment)
  const run = yield* tx.run.get(task.id, task.run)
  if (run) yield* tx.run.save({ ...run, status: 'closed', closedAt: moment.at })
  const free = touched(task, moment.at, { runOpen: false })
  yield* tx.task.save(free)
  yield* tx.event.append(eventOf(moment, 'run.closed', free, { run: task.run, ...data }))
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
