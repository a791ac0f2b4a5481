// The run: one stretch of WORKING. Its number is the fence that keeps a stale owner out.
import type { StoredError } from '../errors.ts'

/** `live` while the task is working, `ending` until the executor has settled, then `closed`. */
export const runStatuses = ['live', 'ending', 'closed'] as const
export type RunStatus = (typeof runStatuses)[number]

/** Why a run ended. `interrupted` counts as a crash, `released` (the engine let go) does not. */
export const runOutcomes = [
  'completed',
  'failed',
  'paused',
  'canceled',
  'input_required',
  'waiting',
  'interrupted',
  'released',
] as const
export type RunOutcome = (typeof runOutcomes)[number]

/** One run of a task. Times are epoch milliseconds. */
export interface RunRecord {
  taskId: string
  /** Counts from 1 within the task. */
  number: number
  attempt: number
  /** The engine instance that runs it. */
  instanceId: string
  status: RunStatus
  /** Null while live. */
  outcome: RunOutcome | null
  error: StoredError | null
  startedAt: number
  /** When the task left WORKING; null while live. */
  endedAt: number | null
  /** When its executor had settled or was given up; null until then. */
  closedAt: number | null
  /** When it times out; null for no limit. */
  dueAt: number | null
}
