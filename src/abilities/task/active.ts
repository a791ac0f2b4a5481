// task:active: the tasks that have not ended, the latest first.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { openStatuses } from '../../entities/task.ts'
import type { AbilityHost } from '../ability-host.ts'
import { amongOwn } from '../own-tasks.ts'
import { taskItemSchema, toItem } from '../views/task-view.ts'
import { limitSchema, usualLimit } from './task-input.ts'

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
