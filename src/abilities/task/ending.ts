// The end of a task from outside, behind task:kill and task:cancel alike. What it was before is read in the same transaction.

import type { Caller } from '../../bus/caller.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { Op, Step } from '../../ledger/ledger.ts'
import { acceptedEvents } from '../../machines/task-machine.ts'
import { cancel } from '../../steps/cancel.ts'
import { expecting } from '../../steps/expect-version.ts'
import { loadTask, type Moment } from '../../steps/moment.ts'
import { within } from '../../steps/within.ts'
import type { AbilityHost } from '../ability-host.ts'
import { type ProcessStatus, processStatusOf } from '../views/status-words.ts'

/** Ends the task and all that is live below it. For a known task that had ended before nothing changes (conformance C-34). */
export async function endTask(
  host: AbilityHost,
  { taskId, reason, expectedVersion }: { taskId: string; reason: string; expectedVersion?: number | undefined },
  caller: Caller,
): Promise<{ success: boolean; previousStatus: ProcessStatus }> {
  const step = cancelUnlessOver(taskId, reason, await host.moment())
  const { task, canceled } = await host.step(
    within(expecting(step, taskId, expectedVersion), caller.taskId ?? null, [taskId]),
  )
  return { success: canceled, previousStatus: processStatusOf(task) }
}

interface Ending {
  /** As it was. */
  task: TaskRecord
  canceled: boolean
}

function cancelUnlessOver(id: string, reason: string, moment: Moment): Step<Ending> {
  return {
    name: 'end task',
    *decide(tx): Op<Ending> {
      const task = yield* loadTask(tx, id)
      const canceled = acceptedEvents(task.status).includes('cancel')
      if (canceled) yield* cancel(id, reason, moment).decide(tx)
      return { task, canceled }
    },
  }
}
