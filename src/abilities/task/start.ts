// task:start: lets a task begin that waits to be started; one without an executor is then worked on by hand.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refOf, standingOf, standingSchema, verbShape } from './task-input.ts'

export function taskStart(host: AbilityHost) {
  return defineAbility({
    id: 'task:start',
    access: 'control',
    description: 'Starts a task that waits to be started. One without an executor is then worked on by hand.',
    input: z.strictObject(verbShape),
    output: standingSchema,
    models: false,
    scope: ({ taskId }) => [taskId],
    handle: async (input, { caller }) => standingOf(await (await host.engineFor(caller)).start(refOf(input))),
  })
}
