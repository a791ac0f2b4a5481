// Taking up what lost engines left. A dead one on this host is known at once by the lock that died with it; one that hangs, or
// runs on another host, by its lease: its runs are closed, and whatever it still writes is refused. Commands that outlived their engine are ended, and awaited, before anything runs again.
import type { CallRecord } from '../entities/call.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Moment } from '../steps/moment.ts'
import { recover } from '../steps/recover.ts'

export interface RecoveryHost {
  /** False when this engine itself was away for a while: others may have been too, and get the chance to show up first. */
  readonly mayJudgeLeases: boolean
  readonly ledger: Ledger
  readonly instanceId: string
  readonly maxCrashes: number
  moment(): Moment
  /** Ends what a call in progress left running outside of the dead process; resolves when it is gone. */
  reclaim(call: CallRecord): Promise<void>
  report(error: unknown, context: Record<string, unknown>): void
}

/** Recovers every instance that is dead; resolves to the number of runs that were closed. */
export async function recoverDead(host: RecoveryHost): Promise<number> {
  // Leases are judged as of the moment the look began: if this engine is held up in the middle of it, so are perhaps the others.
  const { at } = host.moment()
  const instances = await host.ledger.read((tx) => tx.instance.open())
  let closed = 0
  for (const { id, leaseUntil } of instances) {
    if (id === host.instanceId) continue
    const alive = (await host.ledger.isAlive(id)) !== 'dead'
    if (alive && !(host.mayJudgeLeases && leaseUntil <= at)) continue
    try {
      await reclaimAll(host, id)
      const tasks = await host.ledger.step(
        recover({
          at: host.moment().at,
          instanceId: id,
          by: host.instanceId,
          maxCrashes: host.maxCrashes,
          reason: 'interrupted',
          onlyIfSilentAt: alive ? at : null,
        }),
      )
      // The lock of one that hangs stays its own: it may come back, and must be known to live.
      if (!alive) host.ledger.discharge(id)
      closed += tasks.length
    } catch (error) {
      // Left as it is: nothing of it runs again until it can be recovered.
      host.report(error, { doing: 'recover', instance: id })
    }
  }
  return closed
}

async function reclaimAll(host: RecoveryHost, instanceId: string): Promise<void> {
  const calls = await host.ledger.read(function* (tx) {
    const found: CallRecord[] = []
    for (const run of yield* tx.run.openOf(instanceId)) {
      for (const call of yield* tx.call.open(run.taskId)) if (call.kind === 'call') found.push(call)
    }
    return found
  })
  await Promise.all(calls.map((call) => host.reclaim(call)))
}
