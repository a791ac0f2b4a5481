// task:fail: a task that is worked on from outside has failed, for good.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { asSchema, fenceSchema, quoteBy } from '../board/board-input.ts'
import { refOf, standingOf, standingSchema, verbShape } from './task-input.ts'

export function taskFail(host: AbilityHost) {
  return defineAbility({
    id: 'task:fail',
    access: 'control',
    description: 'Fails a task that is worked on from outside, with the reason.',
    input: z.strictObject({
      ...verbShape,
      reason: z.string().trim().min(1),
      code: z.string().min(1).max(100).optional().describe('What programs see. Default TASK_FAILED.'),
      owner: asSchema.optional().describe('Who has claimed it, if somebody has.'),
      fence: fenceSchema.optional(),
    }),
    output: standingSchema,
    models: false,
    scope: ({ taskId }) => [taskId],
    handle: async ({ taskId, expectedVersion, reason, owner, fence, ...said }, { caller }) => {
      const engine = await host.engineFor(caller)
      return standingOf(
        await engine.fail(refOf({ taskId, expectedVersion }), reason, { ...said, ...quoteBy(caller, owner, fence) }),
      )
    },
  })
}
