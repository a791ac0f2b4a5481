// task:calls: the journal of a task: what it called, with what, and what came of it.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { callSchema } from '../views/run-view.ts'
import { taskIdSchema } from './task-input.ts'

export function taskCalls(host: AbilityHost) {
  return defineAbility({
    id: 'task:calls',
    access: 'read',
    description: 'Lists the calls of a task, the oldest first.',
    input: z.strictObject({ taskId: taskIdSchema }),
    output: z.object({ calls: z.array(callSchema) }),
    models: false,
    scope: ({ taskId }) => [taskId],
    handle: async ({ taskId }, { caller }) => ({ calls: await (await host.engineFor(caller)).calls(taskId) }),
  })
}
