// task:kill: ends a task and all that is below it, for whatever reason.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { verbShape } from '../../../../abilities/task/task-input.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import { endingSchema, endTask } from '../../ending.ts'

export function taskKill(host: AbilityHost) {
  return defineAbility({
    id: 'task:kill',
    access: 'control',
    description: 'Ends a task and its subtasks for good, whatever they are doing.',
    input: z.strictObject({
      ...verbShape,
      reason: z.string().trim().min(1).default('killed').describe('Kept with the task. Default: killed.'),
    }),
    output: endingSchema,
    scope: ({ taskId }) => [taskId],
    handle: (input, { caller }) => endTask(host, input, caller),
  })
}
