// Readiness: whether a task may be admitted to a slot, a pure function of the task, its open blockers and its timer (design section 3).
// It is stored in the row, because the supervisor reads the head of an index and never scans.
import { type StateWord, stateWord, type TaskRecord } from '../entities/task.ts'

export type ReadinessInput = Pick<
  TaskRecord,
  | 'status'
  | 'executor'
  | 'group'
  | 'held'
  | 'runOpen'
  | 'openBlockers'
  | 'wakes'
  | 'notBefore'
  | 'deletedAt'
  | 'statusReason'
>

/** Worked on from outside: it has no executor and is not a group. */
export function isByHand(task: Pick<TaskRecord, 'executor' | 'group'>): boolean {
  return task.executor === null && !task.group
}

/** The reason why a task cannot run yet. */
export type Obstacle =
  | 'settled'
  | 'running'
  | 'group'
  | 'held'
  | 'blocked'
  | 'timer'
  | 'answer'
  | 'children'
  | 'closing'

/**
 * The first obstacle of a task, the one most relevant to people first; null when only a slot or a claim is missing. `closing`, a last run
 * that has ended but is not closed yet, comes last, because it needs no action.
 *
 * A timer is pending exactly while `notBefore` is set: firing it clears the column, so readiness needs no clock.
 * A waiting task is free again when one of its waits is over (`wakes`), or when its holder was lost or released it.
 */
export function obstacleOf(task: ReadinessInput): Obstacle | null {
  if (task.deletedAt !== null) return 'settled'
  switch (task.status) {
    case 'completed':
    case 'failed':
    case 'canceled':
      return 'settled'
    case 'working':
      return 'running'
    case 'submitted':
    case 'paused':
    case 'input_required':
    case 'waiting':
  }
  if (task.group) return 'group'
  if (task.held) return 'held'
  if (task.openBlockers > 0) return 'blocked'
  if (task.notBefore !== null) return 'timer'
  if (task.status === 'input_required' && task.wakes === 0) return 'answer'
  if (task.status === 'waiting' && task.wakes === 0 && !isReleased(task)) return 'children'
  if (task.runOpen) return 'closing'
  return null
}

/** Ready: only a free slot is missing. */
export function isReady(task: ReadinessInput): boolean {
  return task.executor !== null && obstacleOf(task) === null
}

/**
 * Queued, as shown to people: ready, or ready as soon as its last run is closed. It needs no action. An engine starts only
 * ready tasks.
 */
export function isQueued(task: ReadinessInput): boolean {
  if (task.executor === null) return false
  const obstacle = obstacleOf(task)
  return obstacle === null || obstacle === 'closing'
}

/** Claimable: only a claim is missing. */
export function isClaimable(task: ReadinessInput): boolean {
  return task.executor === null && obstacleOf(task) === null
}

/** Shown to people as `ready`: queued, or claimable. */
export function isFree(task: ReadinessInput): boolean {
  return isQueued(task) || isClaimable(task)
}

/** Its holder was lost or released it: it waits only for another holder. */
export function isReleased(task: Pick<TaskRecord, 'status' | 'statusReason'>): boolean {
  return task.status === 'waiting' && (task.statusReason === 'interrupted' || task.statusReason === 'released')
}

/** The state of a row of the ledger, as `stateWord` names it. */
export function recordStateWord(task: ReadinessInput): StateWord {
  return stateWord({ ...task, ready: isFree(task) }, task.openBlockers)
}
