// task:resume: takes a paused task up again.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { standingOf, standingSchema, taskIdSchema } from './task-input.ts'

export function taskResume(host: AbilityHost) {
  return defineAbility({
    id: 'task:resume',
    description: 'Lets a paused task go on as soon as there is a slot.',
    input: z.strictObject({ taskId: taskIdSchema }),
    output: standingSchema,
    scope: ({ taskId }) => [taskId],
    handle: async ({ taskId }, { caller }) => standingOf(await (await host.engineFor(caller)).resume(taskId)),
  })
}
