// task:runs: the runs of a task, each one stretch of work.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { runSchema } from '../views/run-view.ts'
import { taskIdSchema } from './task-input.ts'

export function taskRuns(host: AbilityHost) {
  return defineAbility({
    id: 'task:runs',
    access: 'read',
    description: 'Lists the runs of a task, the oldest first.',
    input: z.strictObject({ taskId: taskIdSchema }),
    output: z.object({ runs: z.array(runSchema) }),
    models: false,
    scope: ({ taskId }) => [taskId],
    handle: async ({ taskId }, { caller }) => ({ runs: await (await host.engineFor(caller)).runs(taskId) }),
  })
}
