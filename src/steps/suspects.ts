// Tasks that are suspected of crashing their engine, as steps see them: what clears one, and whether one must run alone.
import type { RunRecord } from '../entities/run.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'

/** An outcome or a message of this run is in the ledger. A call that has only begun is no progress. */
export function* hasProgressed(tx: Reads, run: RunRecord): Op<boolean> {
  const isOfRun = (each: { run: number | null }): boolean => each.run === run.number
  const entries = yield* tx.call.list(run.taskId)
  if (entries.some((entry) => isOfRun(entry) && (entry.status === 'completed' || entry.status === 'failed')))
    return true
  return (yield* tx.message.list(run.taskId)).some(isOfRun)
}

/** A task that has seen `maxCrashes` crashes runs in this engine, and nothing cleared it yet: nothing may start beside it. */
export function* runsAlone(tx: Reads, instanceId: string, maxCrashes: number): Op<boolean> {
  for (const run of yield* tx.run.openOf(instanceId)) {
    const task = (yield* tx.task.get(run.taskId)) as TaskRecord
    if (task.crashes >= maxCrashes && !(yield* hasProgressed(tx, run))) return true
  }
  return false
}
