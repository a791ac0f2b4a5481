// Rows and events as the server sends them, with a default for every field.

import type { TaskEvent, TaskRow } from '../../page/src/model/wire.ts'

export function rowOf(given: Partial<TaskRow> & { id: string }): TaskRow {
  return {
    seq: 1,
    name: given.id,
    status: 'submitted',
    statusReason: null,
    ready: false,
    held: false,
    parentId: null,
    executor: null,
    group: false,
    priority: 0,
    owner: null,
    role: null,
    tags: [],
    attempt: 1,
    run: 0,
    childCount: 0,
    openBlockers: 0,
    progress: null,
    error: null,
    version: 1,
    createdAt: 0,
    updatedAt: 0,
    startedAt: null,
    completedAt: null,
    ...given,
  }
}

export function eventOf(given: Partial<TaskEvent> & { seq: number; taskId: string }): TaskEvent {
  return { type: 'task.updated', at: given.seq * 1_000, instanceId: 'instance-1', data: {}, ...given }
}
