// Tasks for tests: every field has a value, those that matter are given.
import type { Task } from '../../../src/entities/task.ts'

let lastSeq = 0

export function taskOf(fields: Partial<Task>): Task {
  const seq = ++lastSeq
  return {
    id: `task-${seq}`,
    seq,
    name: `t${seq}`,
    goal: null,
    description: '',
    status: 'submitted',
    ready: false,
    statusReason: null,
    priority: 0,
    parentId: null,
    executor: 'shell',
    input: null,
    result: null,
    error: null,
    owner: null,
    fence: 0,
    leaseUntil: null,
    role: null,
    tags: [],
    group: false,
    deadline: null,
    blockedBy: [],
    questions: [],
    progress: null,
    attempt: 1,
    run: 0,
    notBefore: null,
    key: null,
    metadata: {},
    version: 1,
    createdAt: 0,
    updatedAt: 0,
    completedAt: null,
    ...fields,
  }
}
