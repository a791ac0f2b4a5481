// A task's row for tests of pure functions: whole, sound, and submitted unless told otherwise.
import type { TaskRecord } from '../../src/entities/task.ts'
import { isReady } from '../../src/machines/readiness.ts'
import { writeSnapshot } from '../../src/machines/task-snapshot.ts'

export function taskOf(changes: Partial<TaskRecord> = {}): TaskRecord {
  const task: TaskRecord = {
    seq: 1,
    id: 'task-a',
    key: null,
    name: 'a',
    goal: null,
    description: '',
    status: 'submitted',
    statusReason: null,
    group: false,
    ready: false,
    held: false,
    executor: 'work',
    input: null,
    result: null,
    error: null,
    priority: 0,
    parentId: null,
    owner: null,
    attempt: 1,
    run: 0,
    runOpen: false,
    openBlockers: 0,
    wakes: 0,
    crashes: 0,
    notBefore: null,
    policy: {},
    metadata: {},
    progress: null,
    snapshot: '',
    version: 1,
    createdAt: 1_000,
    updatedAt: 1_000,
    completedAt: null,
    deletedAt: null,
    ...changes,
  }
  task.ready = changes.ready ?? isReady(task)
  task.snapshot = changes.snapshot ?? writeSnapshot(task)
  return task
}
