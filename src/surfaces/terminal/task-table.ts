// Tasks as a table, for `ps` and `ps --watch`.

import { formatDuration } from '../../core/duration.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { isSettled, type Task } from '../../entities/task.ts'
import { type Columns, formatTable } from './table.ts'
import { ownerCell, shortId, stateLabel } from './task-labels.ts'
import type { TaskReasons } from './task-reasons.ts'
import { cleanLine, fitWidth } from './terminal-text.ts'

/** The fields that the table shows. */
export type ListedTask = Pick<Task, 'id' | 'seq' | 'name' | 'createdAt' | 'startedAt' | 'completedAt' | 'attempt'> &
  Parameters<typeof stateLabel>[0] &
  Parameters<typeof ownerCell>[0]

/** On a narrower terminal the number stands for the id, and the attempt is left out, so that names can be read. */
const minWidthOfAll = 64

/** Beside reasons a name gets this part of a terminal. */
const shareOfNames = 1 / 3

/** The header, and one line per task; with a column for owners if a task has one, and one for reasons. */
export function taskTable(
  tasks: readonly ListedTask[],
  now: number,
  columns?: number,
  reasons: TaskReasons = new Map(),
): string[] {
  const owner = (task: ListedTask) => ownerCell(task, now)
  const hasRoom = columns === undefined || columns >= minWidthOfAll
  const table: Columns<ListedTask> = {
    '#': ({ seq }) => seq,
    ...(hasRoom && { id: ({ id }: ListedTask) => shortId(id) }),
    status: stateLabel,
    ...(tasks.some((task) => task.owner !== null) && { owner }),
    time: (task) => timeCell(task, now),
    ...(hasRoom && { attempt: ({ attempt }: ListedTask) => attempt }),
    ...(reasons.size === 0
      ? { name: ({ name }: ListedTask) => name }
      : {
          name: ({ name }: ListedTask) =>
            columns === undefined ? name : fitWidth(cleanLine(name), Math.floor(columns * shareOfNames)),
          reason: ({ id }: ListedTask) => reasons.get(id),
        }),
  }
  return formatTable(tasks, table, columns)
}

/** `for 2m05s` of a task that works, `took 12.3s` of one that has ended, `age 3h02m` of any other. */
function timeCell({ status, createdAt, startedAt, completedAt }: ListedTask, now: number): string {
  if (startedAt !== null && status === 'working') return `for ${formatDuration(now - startedAt)}`
  if (startedAt !== null && completedAt !== null && isSettled(status))
    return `took ${formatDuration(completedAt - startedAt)}`
  return `age ${formatDuration(now - createdAt)}`
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
