// task:cancel: ends a task and all that is below it, and says why.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { verbShape } from '../../../../abilities/task/task-input.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import { endingSchema, endTask } from '../../ending.ts'

export function taskCancel(host: AbilityHost) {
  return defineAbility({
    id: 'task:cancel',
    access: 'control',
    description: 'Cancels a task and its subtasks for good, with the reason.',
    input: z.strictObject({ ...verbShape, reason: z.string().trim().min(1).describe('Kept with the task.') }),
    output: endingSchema,
    scope: ({ taskId }) => [taskId],
    handle: (input, { caller }) => endTask(host, input, caller),
  })
}
