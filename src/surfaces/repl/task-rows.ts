// Rows of tasks, as the abilities give them, made fit for the tables of the command line.
import type { TaskRow } from '../../abilities/views/task-row.ts'
import type { ListedTask } from '../cli/task-table.ts'
import type { TreeTask } from '../cli/verbs/tree.ts'

/** A row as tables and trees take it. Rows count what comes before a task, and hold no leases. */
export function listed(row: TaskRow): ListedTask & TreeTask {
  return { ...row, blockedBy: Array.from({ length: row.openBlockers }, () => ''), leaseUntil: null }
}
