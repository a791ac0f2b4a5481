// task:release: the owner lets go of a task, which others may then claim.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { asSchema, fenceSchema, quoteBy } from '../board/board-input.ts'
import { refOf, standingOf, standingSchema, verbShape } from './task-input.ts'

export function taskRelease(host: AbilityHost) {
  return defineAbility({
    id: 'task:release',
    access: 'control',
    description: 'Lets go of a claimed task: others may claim it.',
    input: z.strictObject({
      ...verbShape,
      owner: asSchema
        .optional()
        .describe('Whose claim it is. Default: nobody says, which is enough where no claim is held.'),
      fence: fenceSchema.optional(),
      reason: z.string().trim().min(1).max(500).optional(),
    }),
    output: standingSchema,
    models: false,
    scope: ({ taskId }) => [taskId],
    handle: async ({ taskId, expectedVersion, owner, fence, ...said }, { caller }) => {
      const engine = await host.engineFor(caller)
      return standingOf(
        await engine.release(refOf({ taskId, expectedVersion }), { ...said, ...quoteBy(caller, owner, fence) }),
      )
    },
  })
}
