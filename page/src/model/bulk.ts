// An action on several tasks: which of them accept it, and what it reaches below them.

import { type Action, actionLabels, isQueued, isSettled, possibleActions, taskStatuses } from './lifecycle.ts'
import type { TaskStore } from './task-store.ts'
import type { TaskRow } from './wire.ts'

/** Actions that several tasks can take at once: they need no input of their own. */
const stateActions = ['pause', 'resume', 'retry', 'cancel'] as const satisfies readonly Action[]
export const bulkActions = [...stateActions, 'delete'] as const
export type BulkAction = (typeof bulkActions)[number]

export const bulkLabels: Readonly<Record<BulkAction, string>> = { ...actionLabels, delete: 'Delete' }

/** The states in which a task accepts each action. */
const statesOf = Object.fromEntries(
  bulkActions.map((action) => [
    action,
    new Set(taskStatuses.filter((status) => action === 'delete' || possibleActions(status).includes(action))),
  ]),
) as Record<BulkAction, Set<TaskRow['status']>>

function accepts(row: TaskRow, action: BulkAction): boolean {
  return statesOf[action].has(row.status) && !(action === 'resume' && isQueued(row))
}

/** The actions that some of the tasks accept, with the number of these. */
export function offeredFor(rows: readonly TaskRow[]): Array<{ action: BulkAction; accepting: number }> {
  return bulkActions
    .map((action) => ({ action, accepting: rows.filter((row) => accepts(row, action)).length }))
    .filter(({ accepting }) => accepting > 0)
}

export interface BulkPlan {
  /** Tasks for which the action is requested. */
  rows: TaskRow[]
  /** Chosen tasks that do not accept it now. */
  left: TaskRow[]
  /** Open tasks below `rows` that are canceled along with them; 0 for other actions. */
  below: number
}

export function planBulk(action: BulkAction, chosen: readonly TaskRow[], store: TaskStore): BulkPlan {
  const left = chosen.filter((row) => !accepts(row, action))
  const accepting = chosen.filter((row) => accepts(row, action))
  if (action !== 'cancel') return { rows: accepting, left, below: 0 }
  const ids = new Set(accepting.map(({ id }) => id))
  const rows = accepting.filter((row) => !hasAncestorIn(ids, row, store))
  const reached = new Set(
    rows.flatMap(({ id }) => store.descendants(id)).flatMap((row) => (isSettled(row.status) ? [] : row.id)),
  )
  return { rows, left, below: reached.size }
}

function hasAncestorIn(ids: ReadonlySet<string>, row: TaskRow, { rows }: TaskStore): boolean {
  for (let id = row.parentId; id !== null; id = rows.get(id)?.parentId ?? null) if (ids.has(id)) return true
  return false
}
