// What memory does while an engine works, beside the runs: it receives the tasks that settle, and completes agents and teams whose tasks have
// ended.
import type { EngineHost } from '../actors/engine-host.ts'
import type { MemoryWork } from '../actors/lifecycle-parts.ts'
import { MemoryArchive, type MemoryArchiveHost } from './memory-archive.ts'
import { joinTeam } from './team/enter-team.ts'
import { TeamReconciler, type TeamWork } from './team/team-reconciler.ts'

export type MemoryWorkParts = Pick<MemoryArchiveHost, 'accepts' | 'readTask'> & TeamWork

export function createMemoryWork(host: EngineHost, parts: MemoryWorkParts): MemoryWork {
  const archive = new MemoryArchive({ ...host, ...parts })
  const reconciler = new TeamReconciler({ ...host, ...parts })
  return {
    start() {
      archive.start()
      reconciler.start()
    },
    async close(timeoutMs, active) {
      archive.saveActive(active)
      await Promise.all([archive.close(timeoutMs), reconciler.close(timeoutMs)])
    },
    async membershipOf({ id, run, policy: { team } }) {
      await reconciler.accountFor(team?.taskId)
      if (team === undefined || team.agentId === null) return undefined
      const found = await host.read((tx) => tx.team.stintOfWorker(id))
      const stint = found ?? (await host.step(joinTeam({ taskId: id, run }, host.stepContext())))
      return stint && { taskId: stint.taskId, agentId: stint.agentId }
    },
  }
}
