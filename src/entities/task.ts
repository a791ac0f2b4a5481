// The task: its statuses, its stored record, and its public view. Nothing here accesses a database.
import { briefError, type StoredError } from '../core/errors.ts'
import type { TaskBounds } from './creation-bounds.ts'
import type { HandledEvent } from './handler.ts'
import type { MachinePlace } from './machine.ts'
import type { Question } from './question.ts'
import type { PolicyFields, StoredFields } from './task-fields.ts'
import type { TeamPlace } from './team.ts'

/** The eight states of a task, in lifecycle order. */
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

/** Completed or canceled. A failed task is not terminal, because it can be retried. */
export function isTerminal(status: TaskStatus): boolean {
  return status === 'completed' || status === 'canceled'
}

/** Completed, canceled or failed. */
export function isSettled(status: TaskStatus): boolean {
  return isTerminal(status) || status === 'failed'
}

/** Its own work is done and its result stored; it waits for its children. */
export function awaitsChildren(task: Pick<TaskRecord, 'status' | 'statusReason'>): boolean {
  return task.status === 'waiting' && task.statusReason === 'children'
}

/** Completed, canceled and failed. */
export const settledStatuses: readonly TaskStatus[] = taskStatuses.filter(isSettled)
/** All others. */
export const openStatuses: readonly TaskStatus[] = taskStatuses.filter((status) => !isSettled(status))

/** The policy of a task, set at its creation and stored with it as JSON. */
export interface TaskPolicy extends PolicyFields {
  /** Lists that must all allow the calls of the task's model: its own and those of its ancestors. Absent: no list. */
  abilities?: string[][]
  /** The team that its agent works in; absent: none. */
  team?: TeamPlace
  /** Replaces the instructions of its agent. */
  systemPrompt?: string
  /**
   * Its `model` was named by a caller that may only name models that an engine offers. An engine that does not offer it fails the task; the
   * name is never resolved to a provider or a script.
   */
  offeredModel?: true
  /** The drafts of the tasks that are created when it fails for good, or needs an answer. */
  handlers?: Partial<Record<HandledEvent, object>>
  /** How many tasks models may create below it; absent: their own bounds only. */
  bounds?: TaskBounds
  /** The W3C `traceparent` of what created it; absent: that was not traced. */
  traceparent?: string
  /** It is an actor of the machine of its parent. */
  machine?: MachinePlace
  /** Set by a manual retry: new calls are made although recorded ones have not been replayed. */
  divergence?: 'allow'
  /** Set by a manual retry: ids of completed calls that the task makes again. */
  repeat?: readonly string[]
}

/** The fields of a task that may be megabytes, and that lists do not show. */
export const longFields = ['goal', 'description', 'input', 'result', 'metadata'] as const
type LongField = (typeof longFields)[number]

/** A task as lists and graphs read it: without its long fields. */
export type BriefRecord = Omit<TaskRecord, LongField>

/** A row of the task table. Times are epoch milliseconds. */
export interface TaskRecord extends StoredFields {
  /** Set by the ledger at creation, rising, never reused: the tie-break of everything that is sorted by time. */
  seq: number
  id: string
  /** The principal of its parent, else that created it. Null: no credentials were needed. Never changes. */
  principal: string | null
  status: TaskStatus
  statusReason: string | null
  /** A group has no work of its own: it starts with its first child and ends with its last. */
  group: boolean
  /** Waits for a slot. Derived by `machines/readiness`, stored because it is indexed. */
  ready: boolean
  /** May be claimed now: it has no executor and no obstacle. Derived like `ready`. */
  claimable: boolean
  /** Must be started (`autoStart: false`) or resumed before it may run. */
  held: boolean
  /** The task whose journal it began with; null for none. */
  forkedFrom: string | null
  /** Work of the engine for its operator, such as the delivery of a webhook: see `Task`. */
  system: boolean
  /** The executor's result as JSON; null until completed. */
  result: unknown
  error: StoredError | null
  /** The id of the parent if that limits how many of its children run at once; else empty. Admission takes the first task of each lane. */
  lane: string
  /** Number of its ancestors. */
  depth: number
  /** Number of children created so far, deleted ones included. */
  childCount: number
  /** Tasks that models created below it, at any depth, where their budget began at this task; deleted ones included. */
  madeBelow: number
  /** The outside worker that has claimed or completed it; null when it is not claimed. */
  owner: string | null
  /** Counts the claims, so that the number of a former owner is lower. */
  fence: number
  /** How long the claim lasts without a renewal; null for a claim without a lease. */
  leaseMs: number | null
  /** When the claim lapses; null while it is not WORKING, or without a lease. */
  leaseUntil: number | null
  /** Counts from 1; `run.continueAsNew` adds one. Entries of the journal are found again within one generation. */
  generation: number
  /** Counts from 1 within the generation; a retry adds one. */
  attempt: number
  /** Number of the latest run; 0 before the first. A fence: only that run may write. */
  run: number
  /** The latest run has not been closed: its executor may still be settling. */
  runOpen: boolean
  /** Dependencies that are not yet satisfied. */
  openBlockers: number
  /**
   * The task that makes it stuck: one that it waits for and that failed, was canceled, or is stuck itself. Meaningless once it is settled.
   * Written by operations/steps/stuck.ts only, never with the rest of the row.
   */
  stuckBy: string | null
  /** Waits (ask, wait, sleep) that are over and that no run has consumed yet. */
  wakes: number
  /** Consecutive runs that a crash ended with nothing recorded. */
  crashes: number
  policy: TaskPolicy
  progress: Progress | null
  /** Snapshot of its machine: version, state value, context. The row wins where they disagree. */
  snapshot: string
  /** Counts the writes to this row. */
  version: number
  createdAt: number
  updatedAt: number
  /** When its attempt first became WORKING; null before, and again once a retry begins the next attempt. */
  startedAt: number | null
  /** Set exactly while the task is settled. */
  completedAt: number | null
  /** Set when the task was deleted; the row stays until it is purged. */
  deletedAt: number | null
}

/** The progress that a run reported. `fraction` is between 0 and 1. */
export interface Progress {
  fraction: number
  note: string | null
  at: number
}

declare const resultType: unique symbol
/** The id of a task whose result is an `R`. At run time a plain string like `task-abc`. */
export type TaskId<R = unknown> = string & { readonly [resultType]?: R }

/** A task without its long fields, as graphs show it. */
export type BriefTask = Omit<Task, LongField>

/** A task as every method returns it: a copy, safe to change. Times are epoch milliseconds. */
export interface Task<R = unknown> extends StoredFields {
  id: TaskId<R>
  /** Rising, never reused; `#seq` names the task on the command line. */
  seq: number
  status: TaskStatus
  /**
   * Waits only for a slot and the end of its last run (shown as *queued*), or without an executor for a claim (shown as *claimable*).
   */
  ready: boolean
  /**
   * The reason given to `cancel` or `fail`, `interrupted`, or `released`; null otherwise. A task is WORKING and `interrupted` while the
   * engine of its run is dead and no other has taken it over.
   */
  statusReason: string | null
  result: R | null
  error: StoredError | null
  /** The outside worker that has claimed or completed it. */
  owner: string | null
  /** Number of its latest claim, which every write of the owner passes; 0 before the first. */
  fence: number
  /** When the claim lapses unless its owner writes; null without a lease, or while it is not WORKING. */
  leaseUntil: number | null
  /** It has no work of its own: it starts with its first child and ends with its last. */
  group: boolean
  /** The task of which it is a fork (`engine.fork`); null for any other. That one may have been purged since. */
  forkedFrom: string | null
  /**
   * Work that follows from other tasks: the delivery of a webhook, or a handler (`onFailure`, `onInputRequired`), and what is below it. It has slots of
   * its own, is left out of lists, counts and `idle` unless asked for, and raises no webhook and no handler.
   */
  system: boolean
  /** Ids of the dependencies that are still open. */
  blockedBy: string[]
  /** Questions that wait for an answer. */
  questions: Question[]
  progress: Progress | null
  /** Counts from 1; `run.continueAsNew` adds one. */
  generation: number
  /** Counts from 1 within the generation; a retry adds one. */
  attempt: number
  /** Number of its latest run; 0 before the first. */
  run: number
  /** Counts the writes. Passed as `expectedVersion` it prevents a change from overwriting another. */
  version: number
  createdAt: number
  updatedAt: number
  /** When its attempt first became WORKING; null before. */
  startedAt: number | null
  completedAt: number | null
}

/** The same task without its long fields. */
export function briefTask(task: Task): BriefTask {
  return Object.fromEntries(
    Object.entries(task).filter(([field]) => !(longFields as readonly string[]).includes(field)),
  ) as unknown as BriefTask
}

/** A task in messages: `#12 (lines)`. */
export function titleOf({ seq, name }: Pick<TaskRecord, 'seq' | 'name'>): string {
  return `#${seq} (${name})`
}

/** The message of a failure without a reason. */
export const noReason = 'failed'

/** The text after `failed`: a colon and the reason, or nothing without a reason. */
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

/** The state of a task in one word for people. */
export type StateWord = TaskStatus | 'queued' | 'claimable' | 'blocked' | 'interrupted'

/**
 * The state for people, the same word on every surface: that of the ledger, except `queued` for a task that waits for a slot, `claimable`
 * for one that waits for a claim, `blocked` for one that has not begun and comes after others, and `interrupted` for one whose engine has
 * died in its run.
 */
export function stateWord(
  task: Pick<Task, 'status' | 'statusReason' | 'ready' | 'executor'>,
  openBlockers: number,
): StateWord {
  if (task.ready) return isQueuedTask(task) ? 'queued' : 'claimable'
  if (task.status === 'working' && task.statusReason === 'interrupted') return 'interrupted'
  return task.status === 'submitted' && openBlockers > 0 ? 'blocked' : task.status
}

/** True when the task waits for a slot, or for the end of its last run, and needs no action. */
export function isQueuedTask(task: Pick<Task, 'ready' | 'executor'>): boolean {
  return task.ready && task.executor !== null
}

/** The columns that a transition or another change may set; the others follow from the state. */
export type Changes = Partial<
  Omit<
    TaskRecord,
    | 'id'
    | 'seq'
    | 'status'
    | 'ready'
    | 'claimable'
    | 'leaseUntil'
    | 'snapshot'
    | 'version'
    | 'createdAt'
    | 'principal'
    | 'startedAt'
    | 'completedAt'
  >
>
