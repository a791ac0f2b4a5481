// Words for tasks, as every verb uses them.
import type { Task } from '../../entities/task.ts'
import { cleanLine, firstLine, fitWidth } from './terminal-text.ts'

/**
 * The state for people: that of the ledger, but a task that waits for a slot is queued, and one that is blocked says
 * so.
 */
export function stateWord(task: Pick<Task, 'status' | 'ready' | 'blockedBy' | 'statusReason'>): string {
  if (task.ready) return 'queued'
  if (task.status === 'submitted' && task.blockedBy.length > 0) return 'blocked'
  return task.status
}

/** An id that is short to type: the ledger finds tasks by any unique beginning. */
export function shortId(id: string): string {
  return id.replace(/^task-/, '').slice(0, 6)
}

/** `#12 lines`: how messages name a task. */
export function taskLabel(task: Pick<Task, 'seq' | 'name'>): string {
  return `#${task.seq} ${fitWidth(cleanLine(task.name), 60)}`
}

/** The first line of why a task failed or was canceled. */
export function endReason(task: Pick<Task, 'status' | 'error' | 'statusReason'>): string {
  const reason = task.status === 'failed' ? (task.error?.message ?? '') : (task.statusReason ?? '')
  return firstLine(reason)
}
