// task:retry: tries a failed task again.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refOf, standingOf, standingSchema, verbShape } from './task-input.ts'

export function taskRetry(host: AbilityHost) {
  return defineAbility({
    id: 'task:retry',
    access: 'control',
    description: 'Gives a failed task a new attempt; what was completed before is not done again.',
    input: z.strictObject(verbShape),
    output: standingSchema,
    scope: ({ taskId }) => [taskId],
    handle: async (input, { caller }) => standingOf(await (await host.engineFor(caller)).retry(refOf(input))),
  })
}
