// Which tasks a caller may see and name: a program all of them, a run or a model its own task and the tasks below it. The bus has
// validated the ids before; these functions validate them again inside the read or step that uses them.
import { type Caller, ownPrincipalOf } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads, TaskFilter } from '../ledger/ledger.ts'

/** Those of the tasks that the caller may see: all, or for a caller with a task itself and the tasks below it. */
export function* visibleAmong(tx: Reads, caller: Caller, tasks: readonly TaskRecord[]): Op<TaskRecord[]> {
  const { taskId } = caller
  if (taskId === undefined) {
    const principal = ownPrincipalOf(caller)
    return tasks.filter((task) => principal === undefined || task.principal === principal)
  }
  const own: TaskRecord[] = []
  for (const task of tasks) {
    if (task.id === taskId || (yield* tx.task.ancestors(task.id)).some(({ id }) => id === taskId)) own.push(task)
  }
  return own
}

/** Restricts a list: for a caller with a task to the tasks below it, without the task itself, and for the scope `own` to those of the principal. */
export function belowCaller(filter: TaskFilter, caller: Caller): TaskFilter {
  if (caller.taskId !== undefined) return { ...filter, below: caller.taskId }
  const principal = ownPrincipalOf(caller)
  return principal === undefined ? filter : { ...filter, principal }
}

/** The events of the tasks that a caller with the scope `own` may see; of any other caller all, because it has named its task. */
export function* visibleEvents(tx: Reads, caller: Caller, events: readonly TaskEvent[]): Op<TaskEvent[]> {
  const principal = ownPrincipalOf(caller)
  if (principal === undefined) return [...events]
  const own = new Set<string>()
  for (const id of new Set(events.map(({ taskId }) => taskId))) {
    if ((yield* tx.task.get(id))?.principal === principal) own.add(id)
  }
  return events.filter(({ taskId }) => own.has(taskId))
}

/** The given ones of an input's optional task ids. */
export function idsIn(...ids: ReadonlyArray<string | undefined>): string[] {
  return ids.filter((id) => id !== undefined)
}

/** Refuses abilities about all tasks. @throws ErrandError FORBIDDEN for a caller with a task, or with the scope `own`. */
export function refuseAllTasks(caller: Caller, abilityId: string): void {
  refuseTasks(caller, abilityId)
  if (ownPrincipalOf(caller) === undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `${abilityId} concerns all tasks, and the credentials have the scope \`own\`. Name a task that they created.`,
    { abilityId },
  )
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
