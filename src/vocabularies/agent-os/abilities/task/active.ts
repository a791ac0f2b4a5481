// task:active: the tasks that have not ended, the latest first.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { amongOwn } from '../../../../abilities/own-tasks.ts'
import { limitSchema, usualLimit } from '../../../../abilities/task/task-input.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import { openStatuses } from '../../../../entities/task.ts'
import { taskItemSchema, toItem } from '../../views/task-view.ts'

/** A caller with a task sees what is below that task. */
export function taskActive(host: AbilityHost) {
  return defineAbility({
    id: 'task:active',
    access: 'read',
    description: 'Lists the tasks that have not ended: running, waiting, paused or queued.',
    input: z.strictObject({ limit: limitSchema.default(usualLimit) }),
    output: z.object({ tasks: z.array(taskItemSchema) }),
    handle: ({ limit }, { caller }) =>
      host.read(function* (tx) {
        const filter = amongOwn({ statuses: [...openStatuses] }, caller)
        return { tasks: (yield* tx.task.newest(filter, limit, 0)).map(toItem) }
      }),
  })
}
