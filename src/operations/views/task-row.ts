// A task as a row of a list or a tree, small enough for lists of ten thousand.

import { z } from 'zod'
import { once } from '../../core/once.ts'
import { clipped } from '../../core/storable-text.ts'
import { type BriefRecord, isSettled, type TaskStatus, taskStatuses } from '../../entities/task.ts'
import type { TaskAtEvent } from '../../ledger/ledger.ts'
import { isFree } from '../../machines/readiness.ts'

const brief = once(() => z.object({ code: z.string(), message: z.string() }))

/** Times are in epoch milliseconds. */
export const taskRowSchema = once(() =>
  z.object({
    id: z.string(),
    /** Increases with each new task, never reused. */
    seq: z.int(),
    name: z.string(),
    status: z.enum(taskStatuses),
    statusReason: z.string().nullable(),
    /** Queued (waits only for a slot and the end of its last run), or can be claimed. */
    ready: z.boolean(),
    /** Waits to be started or resumed. */
    held: z.boolean(),
    parentId: z.string().nullable(),
    executor: z.string().nullable(),
    group: z.boolean(),
    priority: z.number(),
    owner: z.string().nullable(),
    role: z.string().nullable(),
    tags: z.array(z.string()),
    attempt: z.int(),
    run: z.int(),
    /** Number of children created so far, deleted ones included. */
    childCount: z.int(),
    openBlockers: z.int(),
    progress: z.object({ fraction: z.number(), note: z.string().nullable() }).nullable(),
    /** The error of a failed task, its message cut to 500 characters. */
    error: brief().nullable(),
    version: z.int(),
    createdAt: z.number(),
    updatedAt: z.number(),
    startedAt: z.number().nullable(),
    completedAt: z.number().nullable(),
  }),
)
export type TaskRow = z.output<ReturnType<typeof taskRowSchema>>

const maxMessageLength = 500

export function toRow(task: BriefRecord): TaskRow {
  const { progress, error } = task
  return {
    id: task.id,
    seq: task.seq,
    name: task.name,
    status: task.status,
    statusReason: task.statusReason,
    ready: isFree(task),
    held: task.held,
    parentId: task.parentId,
    executor: task.executor,
    group: task.group,
    priority: task.priority,
    owner: task.owner,
    role: task.role,
    tags: task.tags,
    attempt: task.attempt,
    run: task.run,
    childCount: task.childCount,
    openBlockers: task.openBlockers,
    progress: progress === null ? null : { fraction: progress.fraction, note: progress.note },
    error: error === null ? null : { code: error.code, message: clipped(error.message, maxMessageLength + 1) },
    version: task.version,
    createdAt: task.createdAt,
    updatedAt: task.updatedAt,
    startedAt: task.startedAt,
    completedAt: task.completedAt,
  }
}

/** The task as of an event. Fields that events do not contain (progress, owner) are omitted, since only their current values are stored. */
export function toPastRow({ task, event }: TaskAtEvent): TaskRow {
  const name = typeof event.data['name'] === 'string' ? event.data['name'] : task.name
  const status = (event.data['status'] ?? task.status) as TaskStatus
  const past = { ready: false, held: false, owner: null, openBlockers: 0, progress: null, statusReason: null }
  return {
    ...toRow(task),
    ...past,
    name,
    status,
    error: status === 'failed' && task.status === 'failed' ? toRow(task).error : null,
    updatedAt: event.at,
    startedAt: task.startedAt !== null && task.startedAt <= event.at ? task.startedAt : null,
    completedAt: isSettled(status) ? event.at : null,
  }
}
