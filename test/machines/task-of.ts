// A task's row for tests of pure functions: complete, valid, and submitted by default.
import type { TaskRecord } from '../../src/entities/task.ts'
import { isReady } from '../../src/machines/readiness.ts'
import { writeSnapshot } from '../../src/machines/task-snapshot.ts'
import { taskRow } from '../ledger/factories.ts'

export function taskOf(changes: Partial<TaskRecord> = {}): TaskRecord {
  const row = taskRow({ id: 'task-a', name: 'a', executor: 'work', createdAt: 1_000, updatedAt: 1_000, ...changes })
  const task: TaskRecord = { seq: 1, ...row }
  task.ready = changes.ready ?? isReady(task)
  task.snapshot = changes.snapshot ?? writeSnapshot(task)
  return task
}
