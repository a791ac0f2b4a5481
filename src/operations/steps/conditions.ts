// Conditions of a change, checked in the transaction of the step itself, because a task may be moved or changed between the request and the
// step. A model may touch only its own task and those below it; a version must be the one that the caller read.

import { type Caller, ownPrincipalOf } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { type Op, type Reads, type Step, step } from '../../ledger/ledger.ts'
import { loadTask, requireTask } from './step-context.ts'

/** @throws ErrandError FORBIDDEN { taskId, scope } for a task that is neither `scope` nor below it; also for an unknown task. */
export function* requireWithin(tx: Reads, scope: string, ids: readonly string[]): Op<void> {
  for (const id of ids) {
    if (id === scope || (yield* tx.task.ancestors(id)).some((above) => above.id === scope)) continue
    throw new ErrandError(
      'FORBIDDEN',
      `${scope} may only touch itself and the tasks below it, and ${id} is not one of them. Name a task of its own subtree.`,
      { taskId: id, scope },
    )
  }
}

/** Whether all tasks exist for a caller, so that there is nothing to check. */
export function seesAll(caller: Caller): boolean {
  return caller.taskId === undefined && ownPrincipalOf(caller) === undefined
}

/**
 * Requires that a caller may name the tasks: all for a program, for a run or a model its own task and the tasks below it, for credentials with the
 * scope `own` those of the principal, as if there were no others.
 * @throws ErrandError FORBIDDEN { taskId, scope }; NOT_FOUND
 */
export function* requireOwn(tx: Reads, caller: Caller, named: readonly string[]): Op<void> {
  if (caller.taskId !== undefined) return yield* requireWithin(tx, caller.taskId, named)
  const principal = ownPrincipalOf(caller)
  if (principal === undefined) return
  for (const id of named) {
    const task = yield* tx.task.get(id)
    requireTask(task?.principal === principal ? task : undefined, id)
  }
}

/** Refuses the step unless the caller may name all of the tasks. */
export function within<R>(judged: Step<R>, caller: Caller, ids: readonly string[]): Step<R> {
  if (seesAll(caller)) return judged
  return step(judged.name, function* (tx) {
    yield* requireOwn(tx, caller, ids)
    return yield* judged.decide(tx)
  })
}

/**
 * Refuses the step if the task was written since the given version was read. Undefined: no check.
 * @throws ErrandError VERSION_CONFLICT { taskId, expected, actual }
 */
export function expecting<R>(judged: Step<R>, taskId: string, expected: number | undefined): Step<R> {
  if (expected === undefined) return judged
  return step(judged.name, function* (tx) {
    const { version } = yield* loadTask(tx, taskId)
    if (version !== expected) {
      throw new ErrandError(
        'VERSION_CONFLICT',
        `Cannot ${judged.name} ${taskId}: it is at version ${version}, and version ${expected} was expected. Read it again and repeat the change.`,
        { taskId, expected, actual: version },
      )
    }
    return yield* judged.decide(tx)
  })
}
