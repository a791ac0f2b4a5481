// Ending a live run while its executor has not settled: the task leaves WORKING now, the run is closed later (settle-run.ts).
import type { RunOutcome } from '../entities/run.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { StoredError } from '../errors.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import type { Moment } from './moment.ts'

/** Marks the task's open run, if it has a live one, as ending. */
export function* endRun(
  tx: Tx,
  task: TaskRecord,
  outcome: RunOutcome,
  moment: Moment,
  error: StoredError | null = null,
): Op<void> {
  if (!task.runOpen) return
  const run = yield* tx.run.get(task.id, task.run)
  if (run?.status !== 'live') return
  yield* tx.run.save({ ...run, status: 'ending', outcome, error, endedAt: moment.at, closedAt: null })
}
