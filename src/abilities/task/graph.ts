// task:graph: in which order the open tasks can be worked off, and which of them hold up the most.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { idsIn, refuseTasks } from '../own-tasks.ts'
import { wholeTaskSchema } from '../views/whole-task.ts'
import { taskIdSchema } from './task-input.ts'

export function taskGraph(host: AbilityHost) {
  return defineAbility({
    id: 'task:graph',
    access: 'read',
    description: 'Puts the open tasks into an order in which they can be worked off, and says which hold up the most.',
    input: z.strictObject({ parentId: taskIdSchema.optional().describe('Only what is below this task.') }),
    output: z.object({
      order: z.array(wholeTaskSchema),
      critical: z.array(z.object({ taskId: z.string(), holdsUp: z.int() })),
    }),
    models: false,
    scope: ({ parentId }) => idsIn(parentId),
    handle: async ({ parentId }, { caller }) => {
      if (parentId === undefined) refuseTasks(caller, 'task:graph without `parentId`')
      const engine = await host.engineFor(caller)
      return engine.graph({ parentId })
    },
  })
}
