// Taking up what lost engines left. A dead one on this host is known at once by the lock that died with it; one that hangs, or
// runs on another host, by its lease. A step judges that and ends its runs, then its commands are ended, then a step closes the runs:
// only now may something else run for these tasks. An engine that shows up in between keeps what it has.
import type { CallRecord } from '../entities/call.ts'
import type { InstanceRecord } from '../entities/instance.ts'
import { closeRunsOf, endRunsOf, type LostEngine } from '../steps/recover.ts'
import type { EngineHost } from './engine-host.ts'

export interface RecoveryHost
  extends Pick<EngineHost, 'ledger' | 'instanceId' | 'maxCrashes' | 'stepContext' | 'reclaim' | 'report'> {
  /** False when this engine itself was away for a while: others may have been too, and get the chance to show up first. */
  readonly mayJudgeLeases: boolean
}

/** Takes up what every lost engine left. */
export async function recoverDead(host: RecoveryHost): Promise<void> {
  // Leases are judged as of the moment the look began: if this engine is held up in the middle of it, so are perhaps the others.
  const { at } = host.stepContext()
  const instances = await host.ledger.read((tx) => tx.instance.open())
  const others = instances.filter(({ id }) => id !== host.instanceId)
  // Side by side: the commands of one may take seconds to end.
  await Promise.all(others.map((instance) => recoverIfLost(instance, at, host)))
}

async function recoverIfLost({ id, leaseUntil }: InstanceRecord, at: number, host: RecoveryHost): Promise<void> {
  try {
    const alive = (await host.ledger.isAlive(id)) !== 'dead'
    if (alive && !(host.mayJudgeLeases && leaseUntil <= at)) return
    const closed = await takeUp({ instanceId: id, reason: 'interrupted', onlyIfSilentAt: alive ? at : null }, host)
    // The lock of one that hangs stays its own: it may come back, and must be known to live.
    if (closed && !alive) host.ledger.unregister(id)
  } catch (error) {
    // Left as it is: nothing of it runs again until it can be recovered.
    host.report(error, { doing: 'recover', instance: id })
  }
}

/** Resolves to whether nothing of the engine is open any more. */
async function takeUp(lost: LostEngine, host: RecoveryHost): Promise<boolean> {
  const calls = await host.ledger.step(endRunsOf(lost, host.maxCrashes, host.stepContext()))
  if (calls === null) return false
  const kept = await reclaimAll(calls, host)
  await host.ledger.step(closeRunsOf(lost, kept, host.stepContext()))
  return kept.size === 0
}

/** Ends the commands of these calls, of closed ones too: they may have outlived them. Resolves to the tasks of which one is still alive. */
async function reclaimAll(calls: readonly CallRecord[], { reclaim, report }: RecoveryHost): Promise<Set<string>> {
  const kept = new Set<string>()
  const ofTasks = [...Map.groupBy(calls, (call) => call.taskId)]
  await Promise.all(
    ofTasks.map(([taskId, each]) =>
      reclaim(each).catch((error: unknown) => {
        kept.add(taskId)
        report(error, { doing: 'end the commands of a lost engine', taskId })
      }),
    ),
  )
  return kept
}
