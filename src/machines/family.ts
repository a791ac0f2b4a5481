// What a settled task owes its relatives, as pure verdicts: does its parent end, is a wait over, may it be tried again?
import { isSettled, type Outcome, type RetryPolicy, type TaskRecord } from '../entities/task.ts'
import { ErrandError } from '../errors.ts'

/** Of a parent's children that are not deleted. */
export interface ChildFacts {
  any: boolean
  /** One is not settled. */
  live: boolean
  /** One has failed or was canceled. */
  broken: boolean
}

/**
 * What a child's end means for its parent (conformance C-43, design section 3).
 *
 * A group ends with its last child: completed when all are, failed when one failed or was canceled. Another parent is
 * completed by its children only under `autoComplete`, when its own work is done.
 */
export function parentVerdict(parent: TaskRecord, children: ChildFacts): 'complete' | 'fail' | null {
  if (isSettled(parent.status) || parent.deletedAt !== null || !children.any || children.live) return null
  if (parent.group) return children.broken ? 'fail' : 'complete'
  if (parent.policy.autoComplete !== true || children.broken) return null
  if (parent.status === 'working') return parent.runOpen ? null : 'complete'
  const waitsByHand = parent.status === 'waiting' && parent.executor === null
  return waitsByHand || awaitsChildren(parent) ? 'complete' : null
}

/** Its own work is done and its result kept; only its children are missing. */
export function awaitsChildren(task: Pick<TaskRecord, 'status' | 'statusReason'>): boolean {
  return task.status === 'waiting' && task.statusReason === 'children'
}

/** What a `wait` entry stores as its params. */
export interface WaitParams {
  tasks: string[]
  mode: 'all' | 'any'
  settled: boolean
}

/** Is a wait over? Failure ends it early, unless outcomes were asked for. */
export function isWaitOver(params: WaitParams, statuses: ReadonlyArray<TaskRecord['status']>): boolean {
  const ended = statuses.filter(isSettled)
  if (statuses.length === 0) return true
  if (params.mode === 'any') {
    if (params.settled) return ended.length > 0
    return ended.length === statuses.length || ended.includes('completed')
  }
  if (ended.length === statuses.length) return true
  return !params.settled && ended.some((status) => status !== 'completed')
}

/**
 * Does the end of one awaited task end the wait? The same verdict as `isWaitOver`, from what is at hand when a task settles:
 * how it ended, and whether others are still awaited.
 */
export function endsWait(
  params: Pick<WaitParams, 'mode' | 'settled'>,
  ended: TaskRecord['status'],
  othersOpen: boolean,
): boolean {
  if (!othersOpen) return true
  if (params.mode === 'any') return params.settled || ended === 'completed'
  return !params.settled && ended !== 'completed'
}

/** Milliseconds before the next attempt, or undefined when there is none left. `attempt` is the one that failed. */
export function retryDelay(policy: RetryPolicy, attempt: number, retryAfterMs?: number): number | undefined {
  if (attempt >= policy.maxAttempts) return undefined
  if (retryAfterMs !== undefined && retryAfterMs >= 0) return retryAfterMs
  return policy.backoff === 'exponential' ? policy.backoffMs * 2 ** Math.min(attempt - 1, 30) : policy.backoffMs
}

/** A policy with its defaults: one attempt, no rest. Later arguments yield to earlier ones. */
export function resolveRetry(...policies: Array<Partial<RetryPolicy> | undefined | null>): RetryPolicy {
  const found = policies.find((policy) => policy !== undefined && policy !== null)
  return { maxAttempts: found?.maxAttempts ?? 1, backoffMs: found?.backoffMs ?? 0, backoff: found?.backoff ?? 'fixed' }
}

/** What `wait` gives: outcomes, or results where the first failure is thrown. */
export function resultsOf(params: WaitParams, outcomes: Array<Outcome | null>): unknown[] {
  if (params.settled) return outcomes
  const broken = outcomes.findIndex((outcome) => outcome !== null && outcome.status !== 'completed')
  const anyCompleted = outcomes.some((outcome) => outcome?.status === 'completed')
  if (broken >= 0 && !(params.mode === 'any' && anyCompleted)) {
    const taskId = params.tasks[broken] as string
    const outcome = outcomes[broken] as Outcome
    const why = outcome.status === 'failed' ? outcome.error.message : 'it was canceled'
    throw new ErrandError(
      'CHILD_FAILED',
      `Task ${taskId}, which this one waits for, did not complete: ${why}. Wait with { settled: true } to go on.`,
      {
        taskId,
        outcome,
      },
    )
  }
  return outcomes.map((outcome) => (outcome?.status === 'completed' ? outcome.result : null))
}
