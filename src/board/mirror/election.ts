// Who writes the files of a folder: one mirror at a time, elected in the ledger. It is known by a lock that dies with its process,
// so a dead one is replaced at once; one that hangs, when its time is over. Every writing step asks again, so that one who has
// been replaced meanwhile writes nothing more.
import { ErrandError } from '../../core/errors.ts'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'
import type { MirrorHost } from './mirror-host.ts'

/** How long a mirror may be silent before another takes its place, in milliseconds. */
export const holdMs = 10_000

export interface MirrorLease {
  /** The mirror's own id. */
  id: string
  dir: string
  board: string
}

/**
 * Takes the seat, or keeps it. 'taken': it was somebody else's until now; 'theirs': it still is.
 * @throws ErrandError KEY_CONFLICT when a living mirror of another board writes the folder.
 */
export async function acquireLease(
  host: MirrorHost,
  { id, dir, board }: MirrorLease,
): Promise<'mine' | 'taken' | 'theirs'> {
  const holder = await host.read((tx) => tx.mirror.holder(dir))
  const { at } = await host.stepContext()
  if (holder?.instanceId === id && holder.until - at > holdMs / 2) return 'mine'
  const other = holder?.instanceId === id ? undefined : holder
  const isDead = other !== undefined && (await host.isAlive(other.instanceId)) === 'dead'
  if (other !== undefined && !isDead && other.until > at) {
    if (other.board === board) return 'theirs'
    throw new ErrandError(
      'KEY_CONFLICT',
      `The folder ${dir} is written by a mirror of the board "${other.board}": give the board "${board}" a folder of its own`,
      { key: dir, board: other.board },
    )
  }
  const taken = await host.step({
    name: 'take the seat of a mirror',
    *decide(tx): Op<boolean> {
      const now = yield* tx.mirror.holder(dir)
      // Somebody was quicker.
      if (now?.instanceId !== holder?.instanceId || now?.until !== holder?.until) return false
      yield* tx.mirror.hold(dir, board, id, at + holdMs)
      return true
    },
  })
  if (!taken) return 'theirs'
  if (isDead) host.unregister(other.instanceId)
  return holder?.instanceId === id ? 'mine' : 'taken'
}

/** Does the seat still belong to this mirror? Asked in the transaction that writes. */
export function* holdsLease(tx: Reads, { id, dir }: MirrorLease): Op<boolean> {
  return (yield* tx.mirror.holder(dir))?.instanceId === id
}

export async function releaseLease(host: MirrorHost, { id, dir }: MirrorLease): Promise<void> {
  await host.step({ name: 'leave the seat of a mirror', decide: (tx: Tx) => tx.mirror.release(dir, id) })
}
