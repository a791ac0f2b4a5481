// Tasks as a table: what `ps` prints, and what `ps --watch` keeps on the screen.
import type { Task } from '../../entities/task.ts'
import { formatDuration } from './duration.ts'
import { formatTable } from './table.ts'
import { ownerCell, shortId, stateWord } from './task-words.ts'

/** What the table tells of a task. */
export type ListedTask = Pick<
  Task,
  | 'id'
  | 'seq'
  | 'name'
  | 'status'
  | 'ready'
  | 'blockedBy'
  | 'statusReason'
  | 'executor'
  | 'owner'
  | 'leaseUntil'
  | 'createdAt'
  | 'attempt'
>

/** The header, and one line a task; owners have a column only where there are some. */
export function taskTable(tasks: readonly ListedTask[], now: number, columns?: number): string[] {
  const owned = tasks.some((task) => task.owner !== null)
  const header = ['#', 'id', 'status', ...(owned ? ['owner'] : []), 'age', 'attempt', 'name']
  const rows = tasks.map((task) => [
    `${task.seq}`,
    shortId(task.id),
    stateWord(task),
    ...(owned ? [ownerCell(task, now)] : []),
    formatDuration(now - task.createdAt),
    `${task.attempt}`,
    task.name,
  ])
  return formatTable(header, rows, columns)
}
