// The limits that all engines on one ledger share: a row of the ledger, counted in the transaction that starts a run.

import { changedLimits, noSharedLimits, type SharedLimits } from '../../entities/limits.ts'
import type { SharedLimitsPatch } from '../../entities/options.ts'
import { type Op, type Reads, type Step, step } from '../../ledger/ledger.ts'

const setting = 'limits'

/** Undefined if there are none: nothing has to be counted then. */
export function* loadSharedLimits(tx: Reads): Op<SharedLimits | undefined> {
  const limits = (yield* tx.setting.get(setting)) as SharedLimits | undefined
  const any = limits !== undefined && (limits.maxConcurrent !== null || Object.keys(limits.limits).length > 0)
  return any ? limits : undefined
}

/** Sets the given limits and keeps the others; null removes a limit. Returns all limits. */
export function setSharedLimits(patch: SharedLimitsPatch): Step<SharedLimits> {
  return step('set limits', function* (tx) {
    const { maxConcurrent, limits } = (yield* loadSharedLimits(tx)) ?? noSharedLimits
    const changed = {
      maxConcurrent: patch.maxConcurrent === undefined ? maxConcurrent : patch.maxConcurrent,
      limits: changedLimits(limits, patch.limits),
    }
    yield* tx.setting.put(setting, changed)
    return changed
  })
}
