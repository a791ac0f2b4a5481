// task:heartbeat: the owner of a claimed task still works on it.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { asSchema, fenceSchema, quoteBy } from '../board/board-input.ts'
import { refOf, standingOf, standingSchema, verbShape } from './task-input.ts'

export function taskHeartbeat(host: AbilityHost) {
  return defineAbility({
    id: 'task:heartbeat',
    access: 'control',
    description: 'Keeps the claim of a task alive: its lease begins anew.',
    input: z.strictObject({ ...verbShape, owner: asSchema.optional(), fence: fenceSchema.optional() }),
    output: standingSchema,
    models: false,
    scope: ({ taskId }) => [taskId],
    handle: async ({ taskId, expectedVersion, owner, fence }, { caller }) => {
      const engine = await host.engineFor(caller)
      return standingOf(await engine.heartbeat(refOf({ taskId, expectedVersion }), quoteBy(caller, owner, fence)))
    },
  })
}
