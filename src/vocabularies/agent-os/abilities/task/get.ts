// task:get: all there is to know of one task.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { requireOwn } from '../../../../abilities/own-tasks.ts'
import { taskIdSchema } from '../../../../abilities/task/task-input.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import { loadTask } from '../../../../steps/moment.ts'
import { readDetail, taskDetailSchema } from '../../views/task-view.ts'

/** An unknown id is NOT_FOUND. */
export function taskGet(host: AbilityHost) {
  return defineAbility({
    id: 'task:get',
    access: 'read',
    description: 'Shows one task: how it stands, what it came to, what it asks, and its conversation if wanted.',
    input: z.strictObject({
      taskId: taskIdSchema,
      includeContext: z.boolean().default(false).describe('With the whole conversation. Default false.'),
    }),
    output: z.object({ task: taskDetailSchema }),
    scope: ({ taskId }) => [taskId],
    handle: ({ taskId, includeContext }, { caller }) =>
      host.read(function* (tx) {
        yield* requireOwn(tx, caller, [taskId])
        return { task: yield* readDetail(tx, yield* loadTask(tx, taskId), includeContext) }
      }),
  })
}
