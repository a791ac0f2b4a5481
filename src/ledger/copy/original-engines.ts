// The engines that were working on a ledger when it was copied. The copy has their rows, and its engines take over what they seem to have
// left; but the commands that these rows name are running for the original, and stay alone.
import { z } from 'zod'
import type { Op, Reads, Tx } from '../ledger.ts'

const setting = 'copy.originalEngines'
const idsSchema = z.array(z.string())

/** An engine whose lease ended so recently may be alive: its clock may be another one. */
const toleranceMs = 60_000

/** Ids of the instances that may be working on this ledger. */
export function* workingEngines(tx: Reads, now: number): Op<string[]> {
  const open = yield* tx.instance.open()
  return open.filter(({ leaseUntil }) => leaseUntil + toleranceMs > now).map(({ id }) => id)
}

/** Records in a copy which engines work on its original; those of the original's own original stay recorded. */
export function* recordOriginalEngines(tx: Tx, ids: readonly string[]): Op<void> {
  if (ids.length > 0) yield* tx.setting.put(setting, [...new Set([...(yield* recorded(tx)), ...ids])])
}

/** Whether an instance is an engine of the ledger of which this one is a copy. */
export function* isOriginalEngine(tx: Reads, id: string): Op<boolean> {
  return (yield* recorded(tx)).includes(id)
}

function* recorded(tx: Reads): Op<string[]> {
  return idsSchema.parse((yield* tx.setting.get(setting)) ?? [])
}
