// The limits that all engines on one ledger share. Kept in the ledger, counted in the transaction that starts a run.

export interface SharedLimits {
  /** Open executor runs of all engines at once; null for no shared limit. */
  maxConcurrent: number | null
  /** The same for single executors, by name. */
  limits: Record<string, number>
}

/** The limits with changes applied; null removes one. */
export function changedLimits(
  limits: Readonly<Record<string, number>>,
  changes: Readonly<Record<string, number | null>> = {},
): Record<string, number> {
  const named = Object.entries({ ...limits, ...changes }).filter(
    (entry): entry is [string, number] => entry[1] !== null,
  )
  return Object.fromEntries(named)
}

export const noSharedLimits: SharedLimits = { maxConcurrent: null, limits: {} }

/** The lane of system tasks. No task has this id. */
export const systemLane = 'system'

/** How many system tasks one engine runs at once, beside the others. */
export const maxSystemTasks = 10
