// Elects the one mirror that writes a folder, in the ledger. Its liveness lock ends with its process, so a dead mirror is replaced at
// once and a hanging one when its lease expires. Each writing step checks the lease again, so a replaced mirror writes nothing more.
import { ErrandError } from '../../core/errors.ts'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'
import type { MirrorHost } from './mirror-host.ts'

/** How long a mirror may be silent before another one may take over, in milliseconds. */
export const mirrorLeaseMs = 10_000

export interface MirrorLease {
  /** The mirror's own id. */
  id: string
  dir: string
  board: string
}

/**
 * Acquires or renews the lease. 'taken': it belonged to another mirror before; 'theirs': it still does.
 * @throws ErrandError KEY_CONFLICT when a living mirror of another board writes the folder.
 */
export async function acquireLease(
  host: MirrorHost,
  { id, dir, board }: MirrorLease,
): Promise<'mine' | 'taken' | 'theirs'> {
  const holder = await host.read((tx) => tx.mirror.holder(dir))
  const { at } = await host.stepContext()
  if (holder?.instanceId === id && holder.until - at > mirrorLeaseMs / 2) return 'mine'
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
    name: 'acquire mirror lease',
    *decide(tx): Op<boolean> {
      const now = yield* tx.mirror.holder(dir)
      // Another mirror has changed the lease since it was read.
      if (now?.instanceId !== holder?.instanceId || now?.until !== holder?.until) return false
      yield* tx.mirror.hold(dir, board, id, at + mirrorLeaseMs)
      return true
    },
  })
  if (!taken) return 'theirs'
  if (isDead) host.unregister(other.instanceId)
  return holder?.instanceId === id ? 'mine' : 'taken'
}

/** Whether the lease still belongs to this mirror; checked in the transaction that writes. */
export function* holdsLease(tx: Reads, { id, dir }: MirrorLease): Op<boolean> {
  return (yield* tx.mirror.holder(dir))?.instanceId === id
}

export async function releaseLease(host: MirrorHost, { id, dir }: MirrorLease): Promise<void> {
  await host.step({ name: 'release mirror lease', decide: (tx: Tx) => tx.mirror.release(dir, id) })
}
