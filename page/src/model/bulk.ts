// An action on several tasks: which of them accept it, and what it reaches below them.

import { type Action, isQueued, isSettled, possibleActions } from './lifecycle.ts'
import type { TaskStore } from './task-store.ts'
import type { TaskRow } from './wire.ts'

/** Actions that several tasks can take at once: they need no input of their own. */
export const bulkActions = ['pause', 'resume', 'retry', 'cancel'] as const satisfies readonly Action[]
export type BulkAction = (typeof bulkActions)[number]

export interface BulkPlan {
  /** Tasks for which the action is requested. */
  rows: TaskRow[]
  /** Chosen tasks that do not accept it now. */
  left: TaskRow[]
  /** Open tasks below `rows` that are canceled along with them; 0 for other actions. */
  below: number
}

export function planBulk(action: BulkAction, chosen: readonly TaskRow[], store: TaskStore): BulkPlan {
  const accepts = (row: TaskRow) =>
    possibleActions(row.status).includes(action) && !(action === 'resume' && isQueued(row))
  const left = chosen.filter((row) => !accepts(row))
  const accepting = chosen.filter(accepts)
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
