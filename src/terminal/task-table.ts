// Tasks as a table, for `ps` and `ps --watch`.

import { formatDuration } from '../core/duration.ts'
import type { Task } from '../entities/task.ts'
import { type Columns, formatTable } from './table.ts'
import { ownerCell, shortId, stateLabel } from './task-labels.ts'

/** The fields that the table shows. */
export type ListedTask = Pick<Task, 'id' | 'seq' | 'name' | 'createdAt' | 'attempt'> &
  Parameters<typeof stateLabel>[0] &
  Parameters<typeof ownerCell>[0]

/** The header, and one line per task; with a column for owners if a task has one. */
export function taskTable(tasks: readonly ListedTask[], now: number, columns?: number): string[] {
  const owner = (task: ListedTask) => ownerCell(task, now)
  const table: Columns<ListedTask> = {
    '#': ({ seq }) => seq,
    id: ({ id }) => shortId(id),
    status: stateLabel,
    ...(tasks.some((task) => task.owner !== null) && { owner }),
    age: ({ createdAt }) => formatDuration(now - createdAt),
    attempt: ({ attempt }) => attempt,
    name: ({ name }) => name,
  }
  return formatTable(tasks, table, columns)
}
