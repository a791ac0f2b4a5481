// task:block: a task comes after others.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refOf, standingOf, standingSchema, taskIdSchema, verbShape } from './task-input.ts'

export function taskBlock(host: AbilityHost) {
  return defineAbility({
    id: 'task:block',
    access: 'control',
    description: 'Lets a task come after others.',
    input: z.strictObject({ ...verbShape, blockedBy: z.array(taskIdSchema).min(1).max(1_000) }),
    output: standingSchema,
    models: false,
    scope: ({ taskId, blockedBy }) => [taskId, ...blockedBy],
    handle: async ({ blockedBy, ...input }, { caller }) =>
      standingOf(await (await host.engineFor(caller)).block(refOf(input), blockedBy)),
  })
}
