// The limits that all engines on one ledger share. Kept in the ledger, counted in the transaction that starts a run.

export interface SharedLimits {
  /** Open executor runs of all engines at once; null for no shared limit. */
  maxConcurrent: number | null
  /** The same for single executors, by name. */
  limits: Record<string, number>
}

export const noSharedLimits: SharedLimits = { maxConcurrent: null, limits: {} }
