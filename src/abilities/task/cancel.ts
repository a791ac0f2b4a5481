// task:cancel: ends a task and all that is below it, and says why.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { processStatuses } from '../views/status-words.ts'
import { endTask } from './ending.ts'
import { verbShape } from './task-input.ts'

export function taskCancel(host: AbilityHost) {
  return defineAbility({
    id: 'task:cancel',
    access: 'control',
    description: 'Cancels a task and its subtasks for good, with the reason.',
    input: z.strictObject({ ...verbShape, reason: z.string().trim().min(1).describe('Kept with the task.') }),
    output: z.object({ success: z.boolean(), previousStatus: z.enum(processStatuses) }),
    scope: ({ taskId }) => [taskId],
    handle: (input, { caller }) => endTask(host, input, caller),
  })
}
