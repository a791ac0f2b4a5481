// task:update: new values for what a task was told to be.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { updateFields } from '../../entities/task-fields.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refOf, standingOf, standingSchema, verbShape } from './task-input.ts'

/** What `engine.update` takes, but for the state: that is changed by verbs. */
export function taskUpdate(host: AbilityHost) {
  return defineAbility({
    id: 'task:update',
    access: 'control',
    description:
      'Changes what a task was told to be: its words, priority, tags, input, policies, dependencies. null takes a value away.',
    input: z.strictObject({ ...verbShape, ...updateFields }),
    output: standingSchema,
    models: false,
    scope: ({ taskId, blockedBy = [] }) => [taskId, ...blockedBy],
    handle: async ({ taskId, expectedVersion, ...patch }, { caller }) => {
      const engine = await host.engineFor(caller)
      return standingOf(await engine.update(refOf({ taskId, expectedVersion }), patch))
    },
  })
}
