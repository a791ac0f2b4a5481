// task:pause: stops the work on a task, to be taken up again.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { standingOf, standingSchema, taskIdSchema } from './task-input.ts'

export function taskPause(host: AbilityHost) {
  return defineAbility({
    id: 'task:pause',
    description: 'Pauses a running task: its work stops, and it keeps all that was done.',
    input: z.strictObject({ taskId: taskIdSchema }),
    output: standingSchema,
    scope: ({ taskId }) => [taskId],
    handle: async ({ taskId }, { caller }) => standingOf(await (await host.engineFor(caller)).pause(taskId)),
  })
}
