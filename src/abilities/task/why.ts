// task:why: why a task does not run, and what would help.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { taskStatuses } from '../../entities/task.ts'
import { whyReasons } from '../../views.ts'
import type { AbilityHost } from '../ability-host.ts'
import { taskIdSchema } from './task-input.ts'

export function taskWhy(host: AbilityHost) {
  return defineAbility({
    id: 'task:why',
    access: 'read',
    description: 'Says why a task does not run, and what would help.',
    input: z.strictObject({ taskId: taskIdSchema }),
    output: z.object({
      taskId: z.string(),
      status: z.enum(taskStatuses),
      reason: z.enum(whyReasons),
      message: z.string(),
      /** Ids of the tasks that it waits for, that block it, or that take its place. */
      tasks: z.array(z.string()),
      /** When its timer fires, in epoch milliseconds; null without one. */
      at: z.number().nullable(),
    }),
    models: false,
    scope: ({ taskId }) => [taskId],
    handle: async ({ taskId }, { caller }) => (await host.engineFor(caller)).why(taskId),
  })
}
