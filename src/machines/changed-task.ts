// Changes of a task's row: by a transition, or in the same state. Pure; the only place where readiness is derived.
import { type Changes, isSettled, type TaskRecord, type TaskStatus } from '../entities/task.ts'
import { isClaimable, isReady } from './readiness.ts'
import { writeSnapshot } from './task-snapshot.ts'

/** The task in its next state. Its derived columns follow when all effects of the transition on the row are known (`derive`). */
export function moved(task: TaskRecord, status: TaskStatus, at: number, changes: Changes = {}): TaskRecord {
  const next = { ...task, statusReason: null, ...changes }
  const began = next.attempt === task.attempt && next.generation === task.generation ? task.startedAt : null
  return {
    ...next,
    status,
    updatedAt: at,
    startedAt: status === 'working' ? (began ?? at) : began,
    completedAt: isSettled(status) ? at : null,
  }
}

/** The task with other values in the same state. */
export function touched(task: TaskRecord, at: number, changes: Changes): TaskRecord {
  return derived({ ...task, ...changes, updatedAt: at })
}

/** The task with a renewed lease. */
export function renewed(task: TaskRecord, at: number): TaskRecord {
  return { ...task, leaseUntil: leaseOf(task, at), updatedAt: at }
}

/** A lease runs only while the task is WORKING: a paused task needs no heartbeat. */
function leaseOf(task: TaskRecord, at: number): number | null {
  if (task.status !== 'working' || task.owner === null || task.leaseMs === null) return null
  return Math.min(Math.ceil(at + task.leaseMs), 8.64e15)
}

/** Sets the columns of a changed row that derive from the rest of it. */
export function derive(task: TaskRecord, at: number): void {
  task.leaseUntil = leaseOf(task, at)
  derived(task)
}

function derived(task: TaskRecord): TaskRecord {
  task.ready = isReady(task)
  task.claimable = isClaimable(task)
  task.snapshot = writeSnapshot(task)
  return task
}
