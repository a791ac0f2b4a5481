// How a task's row changes: along an edge of the table, or in place. Pure; readiness is derived here and nowhere else.
import { isSettled, type TaskRecord } from '../entities/task.ts'
import { isReady } from './readiness.ts'
import { requireTransition, type TaskEventName } from './task-machine.ts'
import { writeSnapshot } from './task-snapshot.ts'

type Changes = Partial<
  Omit<TaskRecord, 'id' | 'seq' | 'status' | 'ready' | 'snapshot' | 'version' | 'createdAt' | 'completedAt'>
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
  next.ready = isReady(next)
  next.snapshot = writeSnapshot(next)
  return next
}

/** The task with other values in the same state. */
export function touched(task: TaskRecord, at: number, changes: Changes): TaskRecord {
  const next: TaskRecord = { ...task, ...changes, updatedAt: at }
  next.ready = isReady(next)
  next.snapshot = writeSnapshot(next)
  return next
}
