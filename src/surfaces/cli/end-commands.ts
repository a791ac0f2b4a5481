// Ends what an engine of this process has running, for a process that is about to exit at once: the commands have process
// groups of their own and would live on. Nothing is written: the ledger shows the runs as broken off, and the next run
// takes them up.
import type { Engine } from '../../api.ts'
import { type ProcessGroup, processGroupOf } from '../../executors/process-group.ts'
import { type ProcessEntry, type ProcessTable, systemProcessTable } from '../../executors/process-table.ts'

/**
 * Kills the process groups of all calls in progress. Whoever exits right after it resolves is gone before the engine can
 * take the deaths for failures.
 */
export async function endCommands(engine: Engine, processTable: ProcessTable = systemProcessTable): Promise<void> {
  const running = engine.status.get().context.running
  const calls = (await Promise.all(running.map(({ taskId }) => engine.calls(taskId)))).flat()
  const groups = calls.flatMap((call) => (call.status === 'in_progress' ? (processGroupOf(call.details) ?? []) : []))
  if (groups.length === 0) return
  const processes = await processTable.list()
  for (const pgid of new Set(groups.flatMap((group) => groupsWithin(group, processes)))) kill(pgid)
}

/** A group's own number and those that `timeout` or a shell made inside its session; none when a stranger bears it by now. */
function groupsWithin(group: ProcessGroup, processes: readonly ProcessEntry[]): number[] {
  const leader = processes.find(({ pid }) => pid === group.pgid)
  if (leader !== undefined && leader.startedAt !== group.startedAt) return []
  return processes
    .filter((each) => !each.zombie && (each.pgid === group.pgid || each.sessionId === group.pgid))
    .map(({ pgid }) => pgid)
}

function kill(pgid: number): void {
  try {
    process.kill(-pgid, 'SIGKILL')
  } catch {
    // It ended since the table was read, or is another user's: nothing more can be done on the way out.
  }
}
