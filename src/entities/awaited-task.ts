// What whoever waited for a task is told of it: how it ended, or that it has not.
import type { Outcome } from './task.ts'

export interface AwaitedTask {
  taskId: string
  /** `open`: it has not ended, because one of several was enough or a message came first. */
  status: 'completed' | 'failed' | 'canceled' | 'open'
  /** Only of a completed one. */
  result?: unknown
  /** Why it failed, or was canceled if somebody said why. */
  error?: string
}

export function toAwaitedTask(taskId: string, outcome: Outcome | null | undefined): AwaitedTask {
  switch (outcome?.status) {
    case 'completed':
      return { taskId, status: 'completed', result: outcome.result }
    case 'failed':
      return { taskId, status: 'failed', error: outcome.error.message }
    case 'canceled':
      return { taskId, status: 'canceled', ...(outcome.statusReason === null ? {} : { error: outcome.statusReason }) }
    case undefined:
      return { taskId, status: 'open' }
  }
}
