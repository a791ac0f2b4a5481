// Which tasks a caller may see and name: a program all of them, a run or a model its own task and the tasks below it. The bus has
// validated the ids before; these functions validate them again inside the read or step that uses them.
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads, TaskFilter } from '../ledger/ledger.ts'
import { requireWithin } from './steps/conditions.ts'

/** @throws ErrandError FORBIDDEN { taskId, scope } */
export function* requireOwn(tx: Reads, { taskId }: Caller, named: readonly string[]): Op<void> {
  if (taskId !== undefined) yield* requireWithin(tx, taskId, named)
}

/** Those of the tasks that the caller may see: all, or for a caller with a task itself and the tasks below it. */
export function* visibleAmong(tx: Reads, { taskId }: Caller, tasks: readonly TaskRecord[]): Op<TaskRecord[]> {
  if (taskId === undefined) return [...tasks]
  const own: TaskRecord[] = []
  for (const task of tasks) {
    if (task.id === taskId || (yield* tx.task.ancestors(task.id)).some(({ id }) => id === taskId)) own.push(task)
  }
  return own
}

/** Restricts a list for a caller with a task to the tasks below it, without the task itself. */
export function belowCaller(filter: TaskFilter, { taskId }: Caller): TaskFilter {
  return taskId === undefined ? filter : { ...filter, below: taskId }
}

/** The given ones of an input's optional task ids. */
export function idsIn(...ids: ReadonlyArray<string | undefined>): string[] {
  return ids.filter((id) => id !== undefined)
}

/** Refuses abilities about all tasks to models. @throws ErrandError FORBIDDEN for a caller with a task. */
export function refuseTasks({ taskId }: Caller, abilityId: string): void {
  if (taskId === undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `${abilityId} concerns all tasks, and ${taskId} may only access itself and the tasks below it. Use \`task:context\` for a single task.`,
    { abilityId, scope: taskId },
  )
}
