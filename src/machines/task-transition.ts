// How a task's row changes: along an edge of the table, or in place. Pure; readiness is derived here and nowhere else.
import { isSettled, type TaskRecord } from '../entities/task.ts'
import { isClaimable, isReady } from './readiness.ts'
import { requireTransition, type TaskEventName } from './task-machine.ts'
import { writeSnapshot } from './task-snapshot.ts'

/** Values of a row that its state does not decide. */
export type Changes = Partial<
  Omit<
    TaskRecord,
    | 'id'
    | 'seq'
    | 'status'
    | 'ready'
    | 'claimable'
    | 'leaseUntil'
    | 'snapshot'
    | 'version'
    | 'createdAt'
    | 'completedAt'
  >
>

/**
 * The task after an event, at a time.
 * @throws ErrandError INVALID_TRANSITION where the table has no such edge.
 */
export function moved(task: TaskRecord, event: TaskEventName, at: number, changes: Changes = {}): TaskRecord {
  const status = requireTransition(task, event)
  const next: TaskRecord = {
    ...task,
    statusReason: null,
    ...changes,
    status,
    updatedAt: at,
    completedAt: isSettled(status) ? at : null,
  }
  // A timer of a task that is over would only keep others waiting for it.
  if (next.completedAt !== null) next.notBefore = null
  next.leaseUntil = leaseOf(next, at)
  return derived(next)
}

/** The task with other values in the same state. */
export function touched(task: TaskRecord, at: number, changes: Changes): TaskRecord {
  return derived({ ...task, ...changes, updatedAt: at })
}

/** A sign of life of its owner: the lease begins anew. */
export function renewed(task: TaskRecord, at: number): TaskRecord {
  return { ...task, leaseUntil: leaseOf(task, at), updatedAt: at }
}

/** A lease runs only while its owner is at work: nobody has to keep a paused task alive. */
function leaseOf(task: TaskRecord, at: number): number | null {
  if (task.status !== 'working' || task.owner === null || task.leaseMs === null) return null
  return Math.min(Math.ceil(at + task.leaseMs), 8.64e15)
}

/** Fills in what follows from the rest of the row. */
function derived(task: TaskRecord): TaskRecord {
  task.ready = isReady(task)
  task.claimable = isClaimable(task)
  task.snapshot = writeSnapshot(task)
  return task
}
