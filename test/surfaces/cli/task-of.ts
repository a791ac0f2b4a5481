// Tasks for tests, with a default for every field.
import type { Task } from '../../../src/entities/task.ts'
import { storedFrom } from '../../../src/entities/task-fields.ts'

let lastSeq = 0

export function taskOf(fields: Partial<Task>): Task {
  const seq = ++lastSeq
  return {
    id: `task-${seq}`,
    seq,
    ...storedFrom({ name: `t${seq}`, executor: 'shell' }),
    status: 'submitted',
    ready: false,
    statusReason: null,
    result: null,
    error: null,
    owner: null,
    fence: 0,
    leaseUntil: null,
    group: false,
    forkedFrom: null,
    system: false,
    blockedBy: [],
    questions: [],
    progress: null,
    generation: 1,
    attempt: 1,
    run: 0,
    version: 1,
    createdAt: 0,
    updatedAt: 0,
    startedAt: null,
    completedAt: null,
    ...fields,
  }
}
