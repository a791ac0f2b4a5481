// The limits that all engines on one ledger share: a row of the ledger, counted in the transaction that starts a run.

import { noSharedLimits, type SharedLimits } from '../entities/limits.ts'
import { inThree } from '../ledger/in-three.ts'
import type { Op, Reads, Step } from '../ledger/ledger.ts'
import type { SharedLimitsPatch } from '../options.ts'

const setting = 'limits'

/** Undefined while there is none: then nothing has to be counted. */
export function* loadSharedLimits(tx: Reads): Op<SharedLimits | undefined> {
  const limits = (yield* tx.setting.get(setting)) as SharedLimits | undefined
  const any = limits !== undefined && (limits.maxConcurrent !== null || Object.keys(limits.limits).length > 0)
  return any ? limits : undefined
}

/** Changes what is named and leaves the rest; null takes a limit away. Resolves to the limits as they are then. */
export function setSharedLimits(patch: SharedLimitsPatch): Step<SharedLimits> {
  return inThree<SharedLimits, SharedLimits, SharedLimits>({
    name: 'set limits',
    *load(tx): Op<SharedLimits> {
      return (yield* loadSharedLimits(tx)) ?? noSharedLimits
    },
    judge(before) {
      const limits = { ...before.limits }
      for (const [executor, limit] of Object.entries(patch.limits ?? {})) {
        if (limit === null) delete limits[executor]
        else limits[executor] = limit
      }
      return { maxConcurrent: patch.maxConcurrent === undefined ? before.maxConcurrent : patch.maxConcurrent, limits }
    },
    *write(tx, limits): Op<SharedLimits> {
      yield* tx.setting.put(setting, limits)
      return limits
    },
  })
}
