// The words for a task's state that abilities speak: those of processes (`pending` … `killed`) and those of the ledger's
// completion status (`success`, `cancelled`, `failed: why`), both ways (conformance 1.1, C-04, C-05). One table, nowhere else.
import { filterByStatus, type StatusWord } from '../../../entities/status-filter.ts'
import {
  failureSuffix,
  openStatuses,
  settledStatuses,
  type TaskRecord,
  type TaskStatus,
} from '../../../entities/task.ts'
import type { TaskFilter } from '../../../ledger/ledger.ts'

// ── words of processes ──

export const processStatuses = ['pending', 'running', 'waiting', 'completed', 'failed', 'killed'] as const
export type ProcessStatus = (typeof processStatuses)[number]

const processWords: Readonly<Record<TaskStatus, ProcessStatus>> = {
  submitted: 'pending',
  working: 'running',
  paused: 'waiting',
  input_required: 'waiting',
  waiting: 'waiting',
  completed: 'completed',
  failed: 'failed',
  canceled: 'killed',
}

/** Why a WAITING task is as good as new: whoever worked on it was lost, or let go. */
const letGoReasons: readonly unknown[] = ['interrupted', 'released']

export function processStatusOf({ status, statusReason }: Pick<TaskRecord, 'status' | 'statusReason'>): ProcessStatus {
  return status === 'waiting' && letGoReasons.includes(statusReason) ? 'pending' : processWords[status]
}

type StateFilter = Pick<TaskFilter, 'statuses' | 'released' | 'failedWith'>

/** All states that a word stands for. `waiting` is the process's word here: it holds PAUSED and INPUT_REQUIRED too. */
export function filterByWord(word: StatusWord): StateFilter {
  return word === 'waiting'
    ? { statuses: ['paused', 'input_required', 'waiting'], released: false }
    : filterByStatus(word)
}

// ── words of the completion status ──

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

/** How a task ended, as a completion status says it; `open` when it has not. */
export type Completion =
  | { status: 'open' }
  | { status: 'completed' }
  | { status: 'canceled' }
  | { status: 'failed'; reason: string | null }

/** Any text that is no word of its own is the reason of a failure (conformance S0-009). */
export function parseCompletionStatus(text: string | null | undefined): Completion {
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

/** null and the text `null` stand for what is not settled, no value for all (conformance C-02); `failed` for any failure. */
export function filterByCompletion(text: string | null | undefined): StateFilter {
  if (text === undefined) return {}
  const completion = parseCompletionStatus(text === 'null' ? null : text)
  if (completion.status === 'open') return { statuses: [...openStatuses] }
  const statuses = settledStatuses.filter((status) => status === completion.status)
  const reason = completion.status === 'failed' ? completion.reason : null
  return reason === null ? { statuses } : { statuses, failedWith: reason }
}
