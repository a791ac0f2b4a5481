// Which tasks a list is of: what the ledger is asked for, and the same asked of one task that has changed.
import { filterByStatus, type StatusWord } from '../../entities/status-filter.ts'
import type { Task } from '../../entities/task.ts'
import { isLetGo } from '../../machines/readiness.ts'

/** A part of what `engine.list` takes. */
export interface TaskChoice {
  status?: StatusWord[] | undefined
  ready?: boolean | undefined
  owner?: string | undefined
  /** All of them. */
  tags?: string[] | undefined
}

export function isChosen(task: Task, { status, ready, owner, tags = [] }: TaskChoice): boolean {
  return (
    (status === undefined || hasStatus(task, status)) &&
    (ready === undefined || task.ready === ready) &&
    (owner === undefined || task.owner === owner) &&
    tags.every((tag) => task.tags.includes(tag))
  )
}

function hasStatus(task: Task, words: StatusWord[]): boolean {
  const { statuses, released } = filterByStatus(words)
  return (
    statuses.includes(task.status) &&
    (task.status !== 'waiting' || released === undefined || isLetGo(task) === released)
  )
}
