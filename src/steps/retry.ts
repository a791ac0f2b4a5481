// Retry: gives a failed task another attempt, and in a group also its failed tasks.

import type { TaskPolicy, TaskRecord } from '../entities/task.ts'
import { type Op, type Reads, type Step, step } from '../ledger/ledger.ts'
import { requireTransition } from '../machines/transition-table.ts'
import { belowCanceled, canceledAbove, futureDeadline } from './groups-above.ts'
import { loadTask, type StepContext } from './step-context.ts'
import { transitionAll } from './transition.ts'
import type { Edge } from './walk.ts'

/** FAILED → SUBMITTED. A group retries its failed children. `divergence` applies until the next retry by hand. */
export function retry(id: string, ctx: StepContext, divergence?: TaskPolicy['divergence']): Step<void> {
  return step('retry', function* (tx) {
    const task = yield* loadTask(tx, id)
    requireTransition(task, 'retry')
    const canceled = yield* canceledAbove(tx, id)
    if (canceled) throw belowCanceled(`retry ${id}`, canceled, task.parentId)
    const failed = [task, ...(task.group ? yield* failedIn(tx, id) : [])]
    yield* transitionAll(tx, failed, 'retry', ctx, (each) => newAttempt(each, ctx, divergence))
  })
}

/** The failed tasks of a group, except those below a canceled one. */
function* failedIn(tx: Reads, groupId: string): Op<TaskRecord[]> {
  const below = new Map((yield* tx.task.subtree(groupId)).map((task) => [task.id, task]))
  const isBelowCanceled = ({ parentId }: TaskRecord): boolean => {
    const parent = below.get(parentId as string)
    return parent !== undefined && (parent.status === 'canceled' || isBelowCanceled(parent))
  }
  return [...below.values()].filter((task) => task.status === 'failed' && !isBelowCanceled(task))
}

function newAttempt(failed: TaskRecord, { at }: StepContext, divergence: TaskPolicy['divergence']): Edge {
  const { divergence: _earlier, ...policy } = failed.policy
  const chosen = divergence === undefined ? {} : { divergence }
  return {
    set: {
      attempt: failed.attempt + 1,
      error: null,
      result: null,
      wakes: 0,
      crashes: 0,
      held: false,
      notBefore: null,
      policy: { ...policy, ...chosen },
      // A new attempt has no owner.
      owner: null,
      leaseMs: null,
      deadline: futureDeadline(failed, at),
    },
    data: { by: 'verb', ...chosen },
  }
}
