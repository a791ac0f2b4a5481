// Which team tasks a caller may use. A program: all. A task's run or model: those of its own subtree, and for operations of members also
// the task of its team, which is above it.
import type { Caller } from '../../bus/caller.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { requireWithin } from '../../operations/steps/conditions.ts'
import { loadTask, loadToChange } from '../../operations/steps/step-context.ts'

/** Loads a task of the caller's own subtree that is to be changed. @throws ErrandError FORBIDDEN { taskId, scope }, NOT_FOUND, PURGED */
export function* loadOwn(tx: Reads, caller: Caller, taskId: string): Op<TaskRecord> {
  if (caller.taskId !== undefined) yield* requireWithin(tx, caller.taskId, [taskId])
  return yield* loadToChange(tx, taskId)
}

/** `loadOwn`, or the task of the caller's team. @throws ErrandError FORBIDDEN { taskId, scope }, NOT_FOUND */
export function* loadShared(tx: Reads, caller: Caller, taskId: string): Op<TaskRecord> {
  if (caller.taskId === undefined) return yield* loadTask(tx, taskId)
  const own = yield* tx.task.get(caller.taskId)
  return own?.policy.team?.taskId === taskId ? yield* loadTask(tx, taskId) : yield* loadOwn(tx, caller, taskId)
}
