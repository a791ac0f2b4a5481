// task:cancel and task:kill: end a task and its subtasks from outside.
import { z } from 'zod'
import { defineAbility } from '../../../bus/ability.ts'
import type { Caller } from '../../../bus/caller.ts'
import { ErrandError } from '../../../core/errors.ts'
import { spokenText } from '../../../core/parse.ts'
import type { AbilityHost } from '../../../operations/ability-host.ts'
import { loadTask } from '../../../operations/steps/step-context.ts'
import { verbShape } from '../../../operations/task/task-input.ts'
import { processStatuses, processStatusOf } from '../views/status-mapping.ts'

const reasonSchema = spokenText().trim().min(1)
const endingSchema = z.object({ success: z.boolean(), previousStatus: z.enum(processStatuses) })

const ending = {
  access: 'control',
  output: endingSchema,
  scope: ({ taskId }: { taskId: string }) => [taskId],
} as const

export function taskCancel(host: AbilityHost) {
  return defineAbility({
    id: 'task:cancel',
    description: 'Cancels a task and its subtasks for good, with the reason.',
    input: z.strictObject({ ...verbShape, reason: reasonSchema.describe('Stored with the task.') }),
    ...ending,
    handle: (input, { caller }) => endTask(host, input, caller),
  })
}

export function taskKill(host: AbilityHost) {
  return defineAbility({
    id: 'task:kill',
    description: 'Ends a task and its subtasks permanently, in any state.',
    input: z.strictObject({
      ...verbShape,
      reason: reasonSchema.default('killed').describe('Stored with the task. Default: killed.'),
    }),
    ...ending,
    handle: (input, { caller }) => endTask(host, input, caller),
  })
}

/**
 * Ends the task in the version that was read, so that `previousStatus` is the status right before. A task that had ended already stays
 * unchanged.
 */
async function endTask(
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
      // The task was changed meanwhile: read it again.
      if (code !== 'VERSION_CONFLICT' || expectedVersion !== undefined) throw error
    }
  }
}
