// The task: every status vocabulary, the stored noun, and the shape in which people see it. Nothing here touches a database.
import { briefError, type StoredError } from '../core/errors.ts'
import type { TaskBounds } from './creation-bounds.ts'
import type { Question } from './question.ts'
import type { PolicyFields, StoredFields } from './task-fields.ts'
import type { TeamPlace } from './team.ts'

/** The eight states of a task, in lifecycle order (conformance 1.1). */
export const taskStatuses = [
  'submitted',
  'working',
  'paused',
  'input_required',
  'waiting',
  'completed',
  'failed',
  'canceled',
] as const
export type TaskStatus = (typeof taskStatuses)[number]

/** No way out: completed and canceled. A failed task can be retried. */
export function isTerminal(status: TaskStatus): boolean {
  return status === 'completed' || status === 'canceled'
}

/** The work has ended, for now or for ever: completed, canceled or failed. */
export function isSettled(status: TaskStatus): boolean {
  return isTerminal(status) || status === 'failed'
}

/** The states in which the work has ended. */
export const settledStatuses: readonly TaskStatus[] = taskStatuses.filter(isSettled)
/** All others: there is, or may be, something left to do. */
export const openStatuses: readonly TaskStatus[] = taskStatuses.filter((status) => !isSettled(status))

/** What a task was told at its creation and the engine consults at each turn; stored with it as JSON. */
export interface TaskPolicy extends PolicyFields {
  /** Lists that must all allow what the task's model calls: its own and those of its ancestors. Absent: no list. */
  abilities?: string[][]
  /** The team that its agent works in; absent: none. */
  team?: TeamPlace
  /** Told to its agent in place of the agent's own instructions. */
  systemPrompt?: string
  /**
   * Its `model` was named by somebody who may only name models that an engine offers. An engine that does not offer it fails the task: the
   * name is never resolved to a provider or a script.
   */
  offeredModel?: true
  /** How many tasks models may create below it; absent: as many as their own bounds allow. */
  bounds?: TaskBounds
  /** Whose task it is: the credentials of who created it, or a task above it. Absent: no credentials were needed. */
  principal?: string
  /** Said when it was retried by hand: new calls are made although recorded ones have not been asked for again. */
  divergence?: 'allow'
}

/**
 * A row of the task table. Times are epoch milliseconds.
 */
export interface TaskRecord extends StoredFields {
  /** Set by the ledger at creation, rising, never reused: the tie-break of everything that is sorted by time. */
  seq: number
  id: string
  status: TaskStatus
  statusReason: string | null
  /** A group has no work of its own: it starts with its first child and ends with its last. */
  group: boolean
  /** Competes for a slot now. Derived by `machines/readiness`, stored because it is indexed. */
  ready: boolean
  /** May be claimed now: it has no executor, and nothing stands in the way. Derived like `ready`. */
  claimable: boolean
  /** Somebody must act before it may run: `autoStart: false` not yet started, or paused and not yet resumed. */
  held: boolean
  /** JSON image of what the executor returned; null until completed. */
  result: unknown
  error: StoredError | null
  /** The parent, if that limits how many of its children run at once; else empty. Admission takes each lane's first. */
  lane: string
  /** Ancestors above it. */
  depth: number
  /** Children it was given so far, deleted ones included. */
  childCount: number
  /** Tasks that models created below it, at any depth, where their budget began at this task; deleted ones included. */
  madeBelow: number
  /** Who works on it from outside, or completed it; null when nobody has claimed it. */
  owner: string | null
  /** Counts the claims: what a former owner still quotes is an older number. */
  fence: number
  /** How long the owner may be silent; null for a claim without a lease. */
  leaseMs: number | null
  /** When the claim lapses; null while it is not WORKING, or without a lease. */
  leaseUntil: number | null
  /** Counts from 1; a retry adds one. */
  attempt: number
  /** Number of the latest run; 0 before the first. A fence: only that run may write. */
  run: number
  /** The latest run has not been closed: its executor may still be settling. */
  runOpen: boolean
  /** Dependencies that are not yet satisfied. */
  openBlockers: number
  /**
   * It is stuck: the task that it waits for failed, was canceled, or is stuck itself. Meaningless once it is settled.
   * Written by judging alone (steps/stuck.ts), never by what saves the rest of the row.
   */
  stuckBy: string | null
  /** Waits (ask, wait, sleep) that are over and have not been taken up by a run. */
  wakes: number
  /** Runs in a row that a crash ended with nothing recorded in them. */
  crashes: number
  policy: TaskPolicy
  progress: Progress | null
  /** Image of its machine: version, state value, context. The row wins where they disagree. */
  snapshot: string
  /** Counts the writes to this row. */
  version: number
  createdAt: number
  updatedAt: number
  /** Set exactly while the task is settled. */
  completedAt: number | null
  /** Set when the task was deleted; the row stays until it is purged. */
  deletedAt: number | null
}

/** How far a run has come, in its own words. `fraction` is between 0 and 1. */
export interface Progress {
  fraction: number
  note: string | null
  at: number
}

declare const resultType: unique symbol
/** The id of a task whose result is an `R`. At run time a plain string like `task-abc`. */
export type TaskId<R = unknown> = string & { readonly [resultType]?: R }

/** A task as every method returns it: a copy, safe to change. Times are epoch milliseconds. */
export interface Task<R = unknown> extends StoredFields {
  id: TaskId<R>
  /** Rising, never reused; `#seq` names the task on the command line. */
  seq: number
  status: TaskStatus
  /**
   * Waits for nothing but a slot and the end of its last run (shown as *queued*), or without an executor for an owner who claims it
   * (shown as *claimable*).
   */
  ready: boolean
  /** Why it is in this state: the reason given to `cancel` or `fail`, `interrupted`, `released`; null otherwise. */
  statusReason: string | null
  result: R | null
  error: StoredError | null
  /** Who works on it from outside, or has completed it. */
  owner: string | null
  /** Number of its latest claim; a claimed task quotes it with every write. 0 before the first. */
  fence: number
  /** When the claim lapses unless its owner writes; null without a lease, or while it is not WORKING. */
  leaseUntil: number | null
  /** It has no work of its own: it starts with its first child and ends with its last. */
  group: boolean
  /** Ids of the dependencies that are still open. */
  blockedBy: string[]
  /** Questions that wait for an answer. */
  questions: Question[]
  progress: Progress | null
  attempt: number
  /** Number of its latest run; 0 before the first. */
  run: number
  /** Counts what was written of it: quoted as `expectedVersion` it keeps a change from overwriting another. */
  version: number
  createdAt: number
  updatedAt: number
  completedAt: number | null
}

/** The message of a failure for which nobody gave a reason. */
export const noReason = 'failed'

/** What stands after `failed`: the reason behind a colon, or nothing where nobody gave one (conformance 1.1). */
export function failureSuffix(reason: string | null | undefined): string {
  return reason == null || reason === '' || reason === noReason ? '' : `: ${reason}`
}

/** How a task ended, as plain JSON. */
export type Outcome<R = unknown> =
  | { status: 'completed'; result: R }
  | { status: 'failed'; error: StoredError }
  | { status: 'canceled'; statusReason: string | null }

/** The outcome of a settled task, or undefined while it is open. */
export function outcomeOf(task: Pick<TaskRecord, 'status' | 'result' | 'error' | 'statusReason'>): Outcome | undefined {
  switch (task.status) {
    case 'completed':
      return { status: 'completed', result: task.result }
    case 'failed':
      return { status: 'failed', error: briefError(task.error ?? { code: 'TASK_FAILED', message: noReason }) }
    case 'canceled':
      return { status: 'canceled', statusReason: task.statusReason }
    default:
      return undefined
  }
}

/** The task waits for a slot, or for the end of its last run, whatever state is stored: it needs no action. */
export function isQueuedTask(task: Pick<Task, 'ready' | 'executor'>): boolean {
  return task.ready && task.executor !== null
}
