// task:retry: tries a failed task again.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { retryOptionsSchema } from '../../options.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refOf, standingOf, standingSchema, verbShape } from './task-input.ts'

export function taskRetry(host: AbilityHost) {
  return defineAbility({
    id: 'task:retry',
    access: 'control',
    description: 'Gives a failed task a new attempt; what was completed before is not done again.',
    input: z.strictObject({
      ...verbShape,
      divergence: retryOptionsSchema.shape.divergence.describe(
        'allow: the attempt may make calls that are not recorded although completed ones are not asked for again.',
      ),
    }),
    output: standingSchema,
    scope: ({ taskId }) => [taskId],
    handle: async ({ divergence, ...task }, { caller }) => {
      const engine = await host.engineFor(caller)
      return standingOf(await engine.retry(refOf(task), divergence === undefined ? {} : { divergence }))
    },
  })
}
