// Tasks as a table, for `ps` and `ps --watch`.

import { formatDuration } from '../../core/duration.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'
import { type Columns, formatTable } from './table.ts'
import { ownerCell, shortId, stateLabel } from './task-labels.ts'

/** The fields that the table shows. */
export type ListedTask = Pick<Task, 'id' | 'seq' | 'name' | 'createdAt' | 'attempt'> &
  Parameters<typeof stateLabel>[0] &
  Parameters<typeof ownerCell>[0]

/** On a narrower terminal the number stands for the id, and the attempt is left out, so that names can be read. */
const minWidthOfAll = 64

/** The header, and one line per task; with a column for owners if a task has one. */
export function taskTable(tasks: readonly ListedTask[], now: number, columns?: number): string[] {
  const owner = (task: ListedTask) => ownerCell(task, now)
  const hasRoom = columns === undefined || columns >= minWidthOfAll
  const table: Columns<ListedTask> = {
    '#': ({ seq }) => seq,
    ...(hasRoom && { id: ({ id }: ListedTask) => shortId(id) }),
    status: stateLabel,
    ...(tasks.some((task) => task.owner !== null) && { owner }),
    age: ({ createdAt }) => formatDuration(now - createdAt),
    ...(hasRoom && { attempt: ({ attempt }: ListedTask) => attempt }),
    name: ({ name }) => name,
  }
  return formatTable(tasks, table, columns)
}

/** Says how many tasks a list of the open ones leaves out, and how to see them; undefined when it shows all. */
export async function hiddenNote(
  engine: Pick<Engine, 'list'>,
  shown: number,
  command: string,
): Promise<string | undefined> {
  const { total } = await engine.list({ limit: 1 })
  const hidden = total - shown
  if (hidden <= 0) return undefined
  return `${hidden} ${hidden === 1 ? 'task that has ended is' : 'tasks that have ended are'} not shown; "${command}" lists all tasks.`
}
