// Cancels a set of tasks with one statement. What their machines would do is in the statement and here: their runs end, and their entries
// are closed.
import type { TaskRecord } from '../../entities/task.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import type { Ended } from './cascade.ts'
import { endedWith, failEntry, isInFlight } from './journal-closing.ts'
import type { StepContext } from './step-context.ts'

/** Cancels everything live below a task, but not the task. */
export function* cancelBelow(tx: Tx, root: TaskRecord, reason: string | null, ctx: StepContext): Op<Ended[]> {
  const canceled = yield* tx.cascade.cancel({ root: root.id, reason, ...ctx })
  if (canceled === undefined) return []
  for (const { call, runOpen } of yield* tx.cascade.openEntries(canceled)) {
    if (isInFlight(call) && runOpen) continue
    const task = (yield* tx.task.get(call.taskId)) as TaskRecord
    yield* failEntry(tx, task, call, endedWith(task), ctx)
  }
  return [{ task: root, edges: yield* tx.cascade.edgesOut(canceled) }]
}
