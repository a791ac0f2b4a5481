// A sign of life: the engine counts as working until its lease is over. Its row may have been forgotten while it was silent for a
// day; then it is written anew, because nothing recovers the runs of an engine that has no row.
import type { InstanceRecord } from '../entities/instance.ts'
import type { Op, Tx } from '../ledger/ledger.ts'

export function* signOfLife(tx: Tx, instance: InstanceRecord): Op<void> {
  if (!(yield* tx.instance.renew(instance.id, instance.leaseUntil))) yield* tx.instance.insert(instance)
}
