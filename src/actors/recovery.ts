// Takes over what lost engines left. A dead engine on this host is detected at once by its released lock; one that
// hangs, or runs elsewhere, by its lease. A step judges that the engine is lost and ends its runs; then its
// commands are ended; then a step closes the runs: only now may the tasks run again. An engine that reports in between
// keeps its runs. A command of another host or container cannot be seen from here, and so not be ended: its call is
// closed as one whose command may still run.
import { placeOfProcess } from '../core/process-place.ts'
import type { CallRecord } from '../entities/call.ts'
import type { InstanceRecord } from '../entities/instance.ts'
import { isOriginalEngine } from '../ledger/copy/original-engines.ts'
import { closeRunsOf, endRunsOf, type LostEngine } from '../operations/steps/recover.ts'
import type { EngineHost } from './engine-host.ts'

export interface RecoveryHost
  extends Pick<EngineHost, 'ledger' | 'instanceId' | 'maxCrashes' | 'stepContext' | 'reclaim' | 'report'> {
  /**
   * False when this engine itself was suspended for a while: others may have been too, and get time to renew their
   * leases.
   */
  readonly mayJudgeLeases: boolean
}

/** Takes over what every lost engine left. */
export async function recoverDead(host: RecoveryHost): Promise<void> {
  // Leases are judged as of the beginning: if this engine is delayed in between, the others may be too.
  const { at } = host.stepContext()
  const instances = await host.ledger.read((tx) => tx.instance.open())
  const others = instances.filter(({ id }) => id !== host.instanceId)
  // In parallel: ending the commands of one engine may take seconds.
  await Promise.all(others.map((each) => recoverIfLost(each, others, at, host)))
}

/**
 * Only an engine in the same place (a host, a container) can end the commands of a dead one: while another one works there, that one
 * recovers it.
 */
async function isLeftToItsPlace(
  { id, host: place }: InstanceRecord,
  others: readonly InstanceRecord[],
  at: number,
  { ledger }: RecoveryHost,
): Promise<boolean> {
  if (place === placeOfProcess()) return false
  const besideIt = others.filter((each) => each.host === place && each.id !== id && each.leaseUntil > at)
  const lives = await Promise.all(besideIt.map((each) => ledger.isAlive(each.id)))
  return lives.some((life) => life !== 'dead')
}

async function recoverIfLost(
  instance: InstanceRecord,
  others: readonly InstanceRecord[],
  at: number,
  host: RecoveryHost,
): Promise<void> {
  const { id, leaseUntil } = instance
  try {
    if (await isLeftToItsPlace(instance, others, at, host)) return
    const life = await host.ledger.isAlive(id)
    const alive = life !== 'dead'
    // A ledger with a time of its own has compared the lease with it.
    const isSilent = life === 'silent' || (host.ledger.now === undefined && leaseUntil <= at)
    if (alive && !(host.mayJudgeLeases && isSilent)) return
    // The commands of the original of a copy go on.
    const leavesCommands = await host.ledger.read((tx) => isOriginalEngine(tx, id))
    const reclaim = leavesCommands ? async () => [] : host.reclaim
    const lost: LostEngine = { instanceId: id, reason: 'interrupted', onlyIfLeaseEndsAt: alive ? leaseUntil : null }
    const closed = await takeOver(lost, { ...host, reclaim })
    // An engine that hangs keeps its lock: it may come back, and must be recognized as alive.
    if (closed && !alive) host.ledger.unregister(id)
  } catch (error) {
    // Left as it is: its tasks do not run again until it can be recovered.
    host.report(error, { doing: 'recover', instance: id })
  }
}

/** Resolves to whether nothing of the engine is open any more. */
async function takeOver(lost: LostEngine, host: RecoveryHost): Promise<boolean> {
  const calls = await host.ledger.step(endRunsOf(lost, host.maxCrashes, host.stepContext()))
  if (calls === null) return false
  const { kept, inDoubt } = await reclaimAll(calls, host)
  await host.ledger.step(closeRunsOf({ ...lost, inDoubt }, kept, host.stepContext()))
  return kept.size === 0
}

/**
 * Ends the commands of these calls, closed ones included: commands may outlive their calls. Resolves to the tasks with
 * a command still alive, and to the calls whose commands may be.
 */
async function reclaimAll(
  calls: readonly CallRecord[],
  { reclaim, report }: RecoveryHost,
): Promise<{ kept: Set<string>; inDoubt: Set<string> }> {
  const kept = new Set<string>()
  const inDoubt = new Set<string>()
  const ofTasks = [...Map.groupBy(calls, (call) => call.taskId)]
  await Promise.all(
    ofTasks.map(async ([taskId, each]) => {
      try {
        for (const { id } of await reclaim(each)) inDoubt.add(id)
      } catch (error) {
        kept.add(taskId)
        report(error, { doing: 'end the commands of a lost engine', taskId })
      }
    }),
  )
  return { kept, inDoubt }
}
