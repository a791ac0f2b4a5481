// Whose tasks a caller sees and names: a program all of them, a task's run or model its own and what is below it. The bus has
// judged the names already; here they are judged again, in the very read or step that uses them.
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads, TaskFilter } from '../ledger/ledger.ts'
import { requireWithin } from '../steps/conditions.ts'

/** @throws ErrandError FORBIDDEN { taskId, scope } */
export function* requireOwn(tx: Reads, { taskId }: Caller, named: readonly string[]): Op<void> {
  if (taskId !== undefined) yield* requireWithin(tx, taskId, named)
}

/** Of these only what a caller with a task may see: itself and what is below it. */
export function* ownAmong(tx: Reads, { taskId }: Caller, tasks: readonly TaskRecord[]): Op<TaskRecord[]> {
  if (taskId === undefined) return [...tasks]
  const own: TaskRecord[] = []
  for (const task of tasks) {
    if (task.id === taskId || (yield* tx.task.ancestors(task.id)).some(({ id }) => id === taskId)) own.push(task)
  }
  return own
}

/** A caller with a task lists what is below that task, and not the task itself. */
export function amongOwn(filter: TaskFilter, { taskId }: Caller): TaskFilter {
  return taskId === undefined ? filter : { ...filter, below: taskId }
}

/** The optional task ids of an input that were given. */
export function idsIn(...ids: ReadonlyArray<string | undefined>): string[] {
  return ids.filter((id) => id !== undefined)
}

/** What is about all tasks is for people and programs. @throws ErrandError FORBIDDEN for a caller with a task. */
export function refuseTasks({ taskId }: Caller, abilityId: string): void {
  if (taskId === undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `${abilityId} is about all tasks, and ${taskId} may only touch itself and the tasks below it. \`task:context\` tells of one.`,
    { abilityId, scope: taskId },
  )
}
