// Maps task statuses to those of processes (`pending` … `killed`) and of the ledger's completion status (`success`, `cancelled`,
// `failed: why`), and back. The only table of this mapping.
import { filterByStatus, type StatusWord } from '../../../entities/status-filter.ts'
import { failureSuffix, openStatuses, type TaskRecord, type TaskStatus } from '../../../entities/task.ts'
import type { TaskFilter } from '../../../ledger/ledger.ts'
import { isReleased } from '../../../machines/readiness.ts'
import type { SavedOutcome } from '../../../operations/steps/save-task.ts'

// ── process statuses ──

export const processStatuses = ['pending', 'running', 'waiting', 'completed', 'failed', 'killed'] as const
export type ProcessStatus = (typeof processStatuses)[number]

const processStatusByStatus: Readonly<Record<TaskStatus, ProcessStatus>> = {
  submitted: 'pending',
  working: 'running',
  paused: 'waiting',
  input_required: 'waiting',
  waiting: 'waiting',
  completed: 'completed',
  failed: 'failed',
  canceled: 'killed',
}

/** A WAITING task that lost its holder, or was released, counts as pending. */
export function processStatusOf(task: Pick<TaskRecord, 'status' | 'statusReason'>): ProcessStatus {
  return isReleased(task) ? 'pending' : processStatusByStatus[task.status]
}

type StateFilter = Pick<TaskFilter, 'statuses' | 'released' | 'failedWith'>

/** The statuses that match a filter word. `waiting` is the process status, which includes PAUSED and INPUT_REQUIRED. */
export function filterByProcessStatus(word: StatusWord): StateFilter {
  return word === 'waiting'
    ? { statuses: ['paused', 'input_required', 'waiting'], released: false }
    : filterByStatus(word)
}

// ── completion status ──

const failedPrefix = 'failed: '

/** Undefined while the task is not settled. */
export function completionStatusOf(task: Pick<TaskRecord, 'status' | 'statusReason' | 'error'>): string | undefined {
  switch (task.status) {
    case 'completed':
      return 'success'
    case 'canceled':
      return 'cancelled'
    case 'failed':
      return `failed${failureSuffix(task.error?.message ?? task.statusReason)}`
    default:
      return undefined
  }
}

/** Any other text is the reason of a failure. */
export function parseCompletionStatus(text: string | null | undefined): SavedOutcome {
  switch (text) {
    case null:
    case undefined:
      return { status: 'open' }
    case 'success':
      return { status: 'completed' }
    case 'cancelled':
    case 'canceled':
    case 'killed':
      return { status: 'canceled' }
    case 'failed':
      return { status: 'failed', reason: null }
    default:
      return { status: 'failed', reason: text.startsWith(failedPrefix) ? text.slice(failedPrefix.length) : text }
  }
}

/** null and the text `null` match unsettled tasks, undefined all, `failed` any failure. */
export function filterByCompletion(text: string | null | undefined): StateFilter {
  if (text === undefined) return {}
  const completion = parseCompletionStatus(text === 'null' ? null : text)
  if (completion.status === 'open') return { statuses: [...openStatuses] }
  const failedWith = completion.status === 'failed' ? (completion.reason ?? undefined) : undefined
  return { statuses: [completion.status], failedWith }
}
