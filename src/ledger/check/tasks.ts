// Rules about a task by itself: what its row says agrees with the rest of it.
import { isSettled, type TaskRecord } from '../../entities/task.ts'
import { isClaimable, isReady, obstacleOf } from '../../machines/readiness.ts'
import { snapshotFault } from '../../machines/task-snapshot.ts'
import type { Rule } from './rule.ts'

/** A rule about one row. */
export interface TaskRule extends Rule {
  /** What is wrong, in a sentence; undefined for a sound row. */
  faultOf(task: TaskRecord): string | undefined
}

const readiness: TaskRule = {
  name: 'task-readiness',
  explains:
    'A task is marked as ready exactly when an executor may run it now, and as claimable exactly when a worker may claim it now, because engines and claims look only at these marks.',
  faultOf(task) {
    const { ready, claimable, executor } = task
    if (ready === isReady(task) && claimable === isClaimable(task)) return undefined
    const marks = `It is marked as ${ready ? 'ready' : 'not ready'} and ${claimable ? 'claimable' : 'not claimable'}`
    const obstacle = obstacleOf(task)
    const means =
      obstacle === null ? `it can be ${executor === null ? 'claimed' : 'run'} now` : `it is not free (${obstacle})`
    return `${marks}, and ${means}.`
  },
}

const snapshot: TaskRule = {
  name: 'task-snapshot',
  explains:
    'The stored snapshot of the machine of a task says the same as its row, because both are written together. An engine repairs one that does not when it next starts the task.',
  faultOf(task) {
    const fault = snapshotFault(task)
    return fault === null ? undefined : `Its snapshot is not valid: ${fault}.`
  },
}

const outcome: TaskRule = {
  name: 'task-outcome',
  explains:
    'A failed task has an error and a completed one has none, because its outcome is what dependents and people read.',
  faultOf: ({ status, error }) => {
    if (status === 'failed' && error === null) return 'It has failed, and has no error.'
    if (status === 'completed' && error !== null) return `It is completed, and has the error ${error.code}.`
    return undefined
  },
}

const ownership: TaskRule = {
  name: 'task-owner',
  explains:
    'Only a task without an executor has an owner, and the lease of a claim runs exactly while its owner works, because the end of a lease lets others claim the task.',
  faultOf({ status, executor, owner, leaseMs, leaseUntil }) {
    if (owner !== null && executor !== null && !isSettled(status))
      return `It belongs to ${owner}, and its executor is ${executor}.`
    if (owner === null && leaseMs !== null) return `It has no owner, and a lease of ${leaseMs} ms.`
    const isLeased = status === 'working' && owner !== null && leaseMs !== null
    if (isLeased && leaseUntil === null) return `${owner} works on it with a lease of ${leaseMs} ms that has no end.`
    if (!isLeased && leaseUntil !== null)
      return `It is ${status}${owner === null ? '' : ` and ${owner}'s`}, and its lease runs until ${leaseUntil}.`
    return undefined
  },
}

export const taskRules: readonly TaskRule[] = [readiness, snapshot, outcome, ownership]
