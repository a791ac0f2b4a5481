// An awaited task as the agent that waited for it receives it.
import type { Outcome } from './task.ts'

export interface AwaitedTask {
  taskId: string
  /** `open`: it has not ended, because one of several was enough or a message came first. */
  status: 'completed' | 'failed' | 'canceled' | 'open'
  /** Only of a completed task. */
  result?: unknown
  /** Why it failed, or why it was canceled if a reason was given. */
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
