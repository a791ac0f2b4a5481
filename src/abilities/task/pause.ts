// task:pause: stops the work on a task, to be taken up again.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refOf, standingOf, standingSchema, verbShape } from './task-input.ts'

export function taskPause(host: AbilityHost) {
  return defineAbility({
    id: 'task:pause',
    access: 'control',
    description: 'Pauses a running task: its work stops, and it keeps all that was done.',
    input: z.strictObject(verbShape),
    output: standingSchema,
    scope: ({ taskId }) => [taskId],
    handle: async (input, { caller }) => standingOf(await (await host.engineFor(caller)).pause(refOf(input))),
  })
}
