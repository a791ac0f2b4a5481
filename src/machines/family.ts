// The rules of families, pure: whether a parent ends by its children, whether a wait is over, whether a failed task is retried. Most are
// guards of the machine of a task.

import { ErrandError, type StoredError } from '../core/errors.ts'
import { restoredCause } from '../core/restored-error.ts'
import { clipped } from '../core/storable-text.ts'
import { errorBounds } from '../core/stored-error.ts'
import { awaitsChildren, failureSuffix, isSettled, type Outcome, type TaskRecord, titleOf } from '../entities/task.ts'
import type { RetryPolicy } from '../entities/task-fields.ts'
import { isReleased } from './readiness.ts'

/** About the children of a parent that are not deleted. */
export interface ChildFacts {
  any: boolean
  /** One is not settled. */
  live: boolean
  /** One can move: it is not settled and not stuck, or one below a stuck one can. */
  movable: boolean
  /** One that is not settled and stuck, where none is movable. */
  stuck: string | null
  /** One that failed, else one that was canceled, where none is movable. */
  broken: string | null
}

/**
 * Whether a parent that has not settled is completed by its children: a group when all are completed, another parent only with `autoComplete`,
 * when its own work is done.
 */
export function childrenComplete(parent: TaskRecord, children: ChildFacts): boolean {
  if (parent.deletedAt !== null) return false
  // `autoComplete` has been turned off while it waited for them.
  if (awaitsChildren(parent) && !parent.policy.autoComplete) return true
  if (children.live) return false
  if (parent.group) return children.broken === null
  // A task that never had children is not completed by them; one that waits for deleted children is complete.
  if (!children.any && !awaitsChildren(parent)) return false
  if (!parent.policy.autoComplete || isHeldUp(parent, children)) return false
  // While its run or its owner is at work, that one completes it.
  if (parent.status === 'working') return !parent.runOpen && parent.owner === null
  // A released task waits for another owner: its own work is not done.
  return awaitsChildren(parent) || (parent.status === 'waiting' && parent.executor === null && !isReleased(parent))
}

/** Whether a group fails by its children: one failed or was canceled when all have ended, or none of the open ones can move. */
export function childrenBroken(parent: TaskRecord, children: ChildFacts): boolean {
  if (!parent.group || parent.deletedAt !== null) return false
  return children.live ? !children.movable : children.broken !== null
}

/** True when its children prevent an autoComplete parent from ending. */
export function isHeldUp(parent: Pick<TaskRecord, 'policy'>, children: ChildFacts): boolean {
  return children.live || (children.broken !== null && parent.policy.autoComplete !== 'all-settled')
}

/** A group that failed because nothing in it could move. */
export function isStuckGroup(task: Pick<TaskRecord, 'group' | 'status' | 'error'>): boolean {
  return task.group && task.status === 'failed' && task.error?.code === 'GROUP_STUCK'
}

/** Failed or canceled: it will not be completed without a retry. */
export function isBroken(status: TaskRecord['status']): boolean {
  return status === 'failed' || status === 'canceled'
}

/** The params of a `wait` entry. */
export interface WaitParams {
  tasks: string[]
  mode: 'all' | 'any'
  settled: boolean
  /** A message after this number of the conversation ends the wait too; absent: messages do not. */
  untilMessageAfter?: number
}

/** Whether a wait is over. A failure ends it early, unless it waits for outcomes (`settled`). */
export function isWaitOver(params: WaitParams, statuses: ReadonlyArray<TaskRecord['status']>): boolean {
  const ended = statuses.filter(isSettled)
  const othersOpen = ended.length < statuses.length
  return statuses.length === 0 || ended.some((status) => endsWait(params, status, othersOpen))
}

/** Whether the end of one awaited task ends the wait, given its status and whether others are still open. */
export function endsWait(
  params: Pick<WaitParams, 'mode' | 'settled'>,
  ended: TaskRecord['status'],
  othersOpen: boolean,
): boolean {
  if (!othersOpen) return true
  if (params.mode === 'any') return params.settled || ended === 'completed'
  return !params.settled && ended !== 'completed'
}

/** The facts about a failed attempt that decide its retry. */
export interface FailedAttempt {
  /** Counts from 1. */
  attempt: number
  code: string
  /** Its `Failure` had `retry: false`. */
  final?: boolean
  /** From its `Failure`. */
  retryAfterMs?: number | undefined
}

/**
 * Milliseconds before the next attempt, or undefined when there is none. `chance` is a random number from 0 to 1; the caller draws it, so
 * that this function stays pure.
 */
export function retryDelay(policy: RetryPolicy, failed: FailedAttempt, chance: number): number | undefined {
  if (failed.final || failed.attempt >= policy.maxAttempts) return undefined
  // The code or its params have changed: trying again changes neither.
  if (failed.code === 'CALL_DIVERGED') return undefined
  if (policy.on.length > 0 && !policy.on.includes(failed.code)) return undefined
  if (failed.retryAfterMs !== undefined && failed.retryAfterMs >= 0) return failed.retryAfterMs
  const grown =
    policy.backoff === 'exponential'
      ? Math.min(policy.backoffMs * 2 ** Math.min(failed.attempt - 1, 30), policy.maxBackoffMs)
      : policy.backoffMs
  return grown * (1 - policy.jitter * chance)
}

/** The first given policy with its defaults: one attempt, no delay, any error. */
export function resolveRetry(...policies: Array<Partial<RetryPolicy> | undefined | null>): RetryPolicy {
  const found = policies.find((policy) => policy !== undefined && policy !== null)
  return {
    maxAttempts: found?.maxAttempts ?? 1,
    backoffMs: found?.backoffMs ?? 0,
    backoff: found?.backoff ?? 'fixed',
    maxBackoffMs: found?.maxBackoffMs ?? Number.POSITIVE_INFINITY,
    jitter: found?.jitter ?? 0,
    on: found?.on ?? [],
  }
}

/** An awaited task that failed or was canceled. */
export interface FailedWait {
  taskId: string
  outcome: Outcome
}

/** The task whose end makes a wait for results fail: the first that did not complete. Undefined when the wait returns a value. */
export function failedWaitOf(params: WaitParams, outcomes: Array<Outcome | null>): FailedWait | undefined {
  if (params.settled) return undefined
  if (params.mode === 'any' && outcomes.some((outcome) => outcome?.status === 'completed')) return undefined
  const index = outcomes.findIndex((outcome) => outcome !== null && outcome.status !== 'completed')
  return index < 0 ? undefined : { taskId: params.tasks[index] as string, outcome: outcomes[index] as Outcome }
}

/** The error of such a wait. `task` is the awaited task if it still exists; its error, with the stack, becomes the cause. */
export function waitFailure({ taskId, outcome }: FailedWait, task: TaskRecord | undefined): ErrandError {
  const how = outcome.status === 'failed' ? `failed: ${outcome.error.message}` : 'was canceled'
  const cause = outcome.status === 'failed' ? restoredCause(task?.error ?? outcome.error) : undefined
  return new ErrandError(
    'CHILD_FAILED',
    `Task ${task === undefined ? taskId : titleOf(task)}, which this task waits for, ${how}. Wait with { settled: true } to receive outcomes instead of an error.`,
    { taskId, outcome },
    cause,
  )
}

/** The value that a wait returns: outcomes with `settled`, else results. */
export function resultsOf({ settled }: WaitParams, outcomes: Array<Outcome | null>): unknown[] {
  return settled ? outcomes : outcomes.map((outcome) => (outcome?.status === 'completed' ? outcome.result : null))
}

/** The error of a parent that fails because a child failed or was canceled. */
export function childFailure({ id, seq, name, status, statusReason, error }: TaskRecord): StoredError {
  const reason = failureSuffix(status === 'failed' ? error?.message : statusReason)
  const how = status === 'failed' ? 'failed' : 'was canceled'
  const message = clipped(`Child ${titleOf({ seq, name })} ${how}${reason}`, errorBounds.message)
  return { code: 'CHILD_FAILED', message, details: { child: id } }
}
