// Which tasks a list is of: what the ledger is asked for, and the same asked of one task that has changed.
import type { Task, TaskStatus } from '../../entities/task.ts'

/** A part of what `engine.list` takes. */
export interface TaskChoice {
  status?: TaskStatus[] | undefined
  ready?: boolean | undefined
  owner?: string | undefined
  /** All of them. */
  tags?: string[] | undefined
}

export function isChosen(task: Task, { status, ready, owner, tags = [] }: TaskChoice): boolean {
  return (
    (status === undefined || status.includes(task.status)) &&
    (ready === undefined || task.ready === ready) &&
    (owner === undefined || task.owner === owner) &&
    tags.every((tag) => task.tags.includes(tag))
  )
}
