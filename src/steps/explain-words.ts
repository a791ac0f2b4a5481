// How the sentences of `why` name tasks: a few of many, each by name and id.
import type { TaskRecord } from '../entities/task.ts'

/** A sentence holds only so many. */
const mostListed = 5

export function nameOf(task: Pick<TaskRecord, 'id' | 'name'>): string {
  return `${task.name} (${task.id})`
}

export function listOf(items: readonly string[], between = ', '): string {
  const listed = items.slice(0, mostListed).join(between)
  return items.length > mostListed ? `${listed} and ${items.length - mostListed} more` : listed
}
