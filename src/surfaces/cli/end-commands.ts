// Ends the commands that an engine of this process is running, when the process is about to exit at once: commands have process
// groups of their own and would survive it. Nothing is written: the ledger shows the runs as interrupted, and the next run
// continues them.

import { killAtOnce, processGroupOf } from '../../commands/process-group.ts'
import type { Engine } from '../../engine/engine-api.ts'

/**
 * Kills the commands of all calls in progress. The process must exit right after this resolves; otherwise the engine records the
 * killed commands as failed.
 */
export async function endCommands(engine: Engine): Promise<void> {
  const running = engine.status.get().context.running
  const calls = (await Promise.all(running.map(({ taskId }) => engine.calls(taskId)))).flat()
  await killAtOnce(calls.flatMap((call) => (call.status === 'in_progress' ? (processGroupOf(call.details) ?? []) : [])))
}
