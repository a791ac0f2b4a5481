// Cancel: the task and every live descendant, below settled ones too, in one transaction; each with its own event.
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Step, Tx } from '../ledger/ledger.ts'
import { nextStatus, requireTransition } from '../machines/task-machine.ts'
import { moved } from '../machines/task-transition.ts'
import { endRun } from './end-run.ts'
import { closeEntries, endedWith, waitKinds } from './journal-closing.ts'
import { eventOf, type Moment, requireTask } from './moment.ts'
import { settleFamily } from './settle-family.ts'

interface Family {
  task: TaskRecord
  below: TaskRecord[]
}

/** Skips settled descendants but descends through them (conformance C-42). */
export function cancel(id: string, reason: string | null, moment: Moment): Step<Family, TaskRecord[], void> {
  return {
    name: 'cancel',
    *load(tx) {
      const task = requireTask(yield* tx.task.get(id), id)
      return { task, below: yield* tx.task.subtree(id) }
    },
    judge({ task, below }) {
      requireTransition(task, 'cancel')
      return [task, ...below.filter((each) => nextStatus(each.status, 'cancel') !== undefined)]
    },
    write: (tx, tasks) => cancelAll(tx, tasks, reason, id, moment),
  }
}

/** Cancels tasks that accept it; `root` is the one that was named. */
export function* cancelAll(
  tx: Tx,
  tasks: readonly TaskRecord[],
  reason: string | null,
  root: string,
  moment: Moment,
): Op<void> {
  const canceled: TaskRecord[] = []
  for (const task of tasks) {
    const next = moved(task, 'cancel', moment.at, { statusReason: reason })
    yield* endRun(tx, task, 'canceled', moment)
    yield* closeEntries(tx, next, task.runOpen ? waitKinds : ['call', ...waitKinds], () => endedWith(next), moment)
    yield* tx.task.save(next)
    yield* tx.event.append(
      eventOf(moment, 'task.canceled', next, {
        from: task.status,
        run: task.run,
        reason,
        ...(task.id === root ? {} : { cascadedFrom: root }),
      }),
    )
    canceled.push(next)
  }
  yield* settleFamily(tx, canceled, moment)
}
