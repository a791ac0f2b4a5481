// What lies behind an error: its chain of causes, and the tasks with which a group or a parent failed.

import type { StoredCause } from '../../../src/core/errors.ts'
import type { Forest } from './tree.ts'
import type { TaskRow } from './wire.ts'

/** Bounds what is shown of an error that another version has stored. */
const maxCauses = 10

/** The causes below an error, the nearest first. */
export function causesOf(error: StoredCause): StoredCause[] {
  const causes: StoredCause[] = []
  for (let next = error.cause; next !== undefined && causes.length < maxCauses; next = next.cause) causes.push(next)
  return causes
}

/** Codes of a task that failed because of other tasks. */
const codesOfOthers: ReadonlySet<string> = new Set(['CHILD_FAILED', 'GROUP_STUCK'])

/**
 * The tasks because of which a task failed: those that its details name, then its failed children, at most `max`; `more` is the number
 * of the others. None unless it failed because of other tasks.
 */
export function failedBehind(
  forest: Forest,
  taskId: string,
  { code, details }: { code: string; details?: unknown },
  max: number,
): { tasks: TaskRow[]; more: number } {
  if (!codesOfOthers.has(code)) return { tasks: [], more: 0 }
  const behind = new Map<string, TaskRow>()
  const add = (row: TaskRow | undefined) => {
    if (row?.status === 'failed' || row?.status === 'canceled') behind.set(row.id, row)
  }
  if (typeof details === 'object' && details !== null) {
    for (const id of Object.values(details)) if (typeof id === 'string') add(forest.rows.get(id))
  }
  for (const id of forest.children.get(taskId) ?? []) {
    const child = forest.rows.get(id)
    if (child?.status === 'failed') add(child)
  }
  const tasks = [...behind.values()]
  return { tasks: tasks.slice(0, max), more: Math.max(0, tasks.length - max) }
}
