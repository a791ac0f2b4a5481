// The end of a task from outside, behind task:kill and task:cancel alike.
import { z } from 'zod'
import type { AbilityHost } from '../../abilities/ability-host.ts'
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../errors.ts'
import { loadTask } from '../../steps/moment.ts'
import { processStatuses, processStatusOf } from './views/status-words.ts'

export const endingSchema = z.object({ success: z.boolean(), previousStatus: z.enum(processStatuses) })

/**
 * Ends the task and all that is live below it, if it still stands as it was read: so `previousStatus` is what it was just before.
 * For a known task that had ended before nothing changes (conformance C-34).
 */
export async function endTask(
  host: AbilityHost,
  { taskId, reason, expectedVersion }: { taskId: string; reason: string; expectedVersion?: number | undefined },
  caller: Caller,
): Promise<z.output<typeof endingSchema>> {
  const engine = await host.engineFor(caller)
  for (;;) {
    const task = await host.read((tx) => loadTask(tx, taskId))
    const previousStatus = processStatusOf(task)
    try {
      await engine.cancel({ id: taskId, expectedVersion: expectedVersion ?? task.version }, reason)
      return { success: true, previousStatus }
    } catch (error) {
      const code = ErrandError.isInstance(error) ? error.code : undefined
      if (code === 'INVALID_TRANSITION') return { success: false, previousStatus }
      // Something was written to it meanwhile.
      if (code !== 'VERSION_CONFLICT' || expectedVersion !== undefined) throw error
    }
  }
}
