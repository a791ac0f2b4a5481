// task:kill: ends a task and all that is below it, for whatever reason.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { processStatuses } from '../views/status-words.ts'
import { endTask } from './ending.ts'
import { verbShape } from './task-input.ts'

export function taskKill(host: AbilityHost) {
  return defineAbility({
    id: 'task:kill',
    access: 'control',
    description: 'Ends a task and its subtasks for good, whatever they are doing.',
    input: z.strictObject({
      ...verbShape,
      reason: z.string().trim().min(1).default('killed').describe('Kept with the task. Default: killed.'),
    }),
    output: z.object({ success: z.boolean(), previousStatus: z.enum(processStatuses) }),
    scope: ({ taskId }) => [taskId],
    handle: (input, { caller }) => endTask(host, input, caller),
  })
}
