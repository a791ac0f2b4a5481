// task:resume: takes a paused task up again.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refOf, standingOf, standingSchema, verbShape } from './task-input.ts'

export function taskResume(host: AbilityHost) {
  return defineAbility({
    id: 'task:resume',
    access: 'control',
    description: 'Lets a paused task go on as soon as there is a slot.',
    input: z.strictObject(verbShape),
    output: standingSchema,
    scope: ({ taskId }) => [taskId],
    handle: async (input, { caller }) => standingOf(await (await host.engineFor(caller)).resume(refOf(input))),
  })
}
