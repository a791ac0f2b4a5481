// Tasks as a table: what `ps` prints, and what `ps --watch` keeps on the screen.

import { formatDuration } from '../core/duration.ts'
import type { Task } from '../entities/task.ts'
import { type Columns, formatTable } from './table.ts'
import { ownerCell, shortId, stateLabel } from './task-labels.ts'

/** What the table tells of a task. */
export type ListedTask = Pick<Task, 'id' | 'seq' | 'name' | 'createdAt' | 'attempt'> &
  Parameters<typeof stateLabel>[0] &
  Parameters<typeof ownerCell>[0]

/** The header, and one line a task; owners have a column only where there are some. */
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
