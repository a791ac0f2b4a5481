// Ends what an engine of this process has running, for a process that is about to exit at once: the commands have process
// groups of their own and would live on. Nothing is written: the ledger shows the runs as broken off, and the next run
// takes them up.
import type { Engine } from '../../engine-api.ts'
import { killAtOnce, processGroupOf } from '../../executors/process-group.ts'

/**
 * Kills the commands of all calls in progress. A process that exits right after it resolves is gone before the engine can take the
 * deaths for failures.
 */
export async function endCommands(engine: Engine): Promise<void> {
  const running = engine.status.get().context.running
  const calls = (await Promise.all(running.map(({ taskId }) => engine.calls(taskId)))).flat()
  await killAtOnce(calls.flatMap((call) => (call.status === 'in_progress' ? (processGroupOf(call.details) ?? []) : [])))
}
