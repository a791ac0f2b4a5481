// Purge: deletes settled families from the ledger, with all their rows and events, and mail that has been read.

import { ErrandError } from '../core/errors.ts'
import { type Op, type Purged, type PurgePosition, type Reads, type Step, step } from '../ledger/ledger.ts'

const setting = 'purgedThrough'

/** The maximum of families in one transaction: short transactions let others write in between. */
const batch = 200

/** Deletes a batch; `next` is the position at which to continue. */
export function purge(before: number, after?: PurgePosition): Step<Purged> {
  return step('purge', function* (tx) {
    if (after === undefined) yield* tx.mail.forget(before)
    const purged = yield* tx.cascade.purge(before, batch, after)
    if (purged.through > (yield* purgedThrough(tx))) yield* tx.setting.put(setting, purged.through)
    return purged
  })
}

export function* purgedThrough(tx: Reads): Op<number> {
  return ((yield* tx.setting.get(setting)) as number | undefined) ?? 0
}

/** @throws ErrandError CURSOR_TOO_OLD for a position after which events have been deleted. 0 is the oldest kept event. */
export function* requireCursor(tx: Reads, after: number): Op<void> {
  const through = yield* purgedThrough(tx)
  if (after === 0 || after >= through) return
  throw new ErrandError(
    'CURSOR_TOO_OLD',
    `Events after position ${after} have left the ledger with their tasks (up to ${through}). Start again: read the state with \`list\`, and follow from 0 or from the present.`,
    { after, oldest: through },
  )
}
