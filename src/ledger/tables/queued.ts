// Tasks that people see as queued while their last run is still ending. The column `ready` leaves them out, because no engine may start
// them before that run is closed. What `isQueued` of machines/readiness.ts says of a row is repeated here in SQL; the contract compares
// the two.
import { type StatementCompiler, sql } from '../statement.ts'

const isLetGo = sql`coalesce(task.status_reason, '') in ('interrupted', 'released')`

export const isQueuedBehindItsRun = sql<boolean>`(task.run_open = 1 and task.executor is not null and task.held = 0
  and task.open_blockers = 0 and task.not_before is null and task.deleted_at is null and (task.status in ('submitted', 'paused')
    or (task.status = 'input_required' and task.wakes > 0)
    or (task.status = 'waiting' and (task.wakes > 0 or ${isLetGo}))))`

/** The runs that are open lead to them: they are few, however many tasks there are. CROSS JOIN keeps SQLite to that order. */
export function countQueuedBehindRuns({ prepareText }: StatementCompiler) {
  return prepareText(
    () => sql`select count(*) as tasks from run cross join task
      where task.id = run.task_id and run.status <> 'closed' and ${isQueuedBehindItsRun}`,
  )
}
