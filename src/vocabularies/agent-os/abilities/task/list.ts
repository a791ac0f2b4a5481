// task:list: tasks by status and parent, the latest first.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { amongOwn, idsIn, requireOwn } from '../../../../abilities/own-tasks.ts'
import { limitSchema, taskIdSchema, usualLimit } from '../../../../abilities/task/task-input.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import { statusWordSchema } from '../../../../entities/status-filter.ts'
import { filterByWord } from '../../views/status-words.ts'
import { taskItemSchema, toItem } from '../../views/task-view.ts'

/** `total` counts all that match. A caller with a task sees what is below that task. */
export function taskList(host: AbilityHost) {
  return defineAbility({
    id: 'task:list',
    access: 'read',
    description: 'Lists tasks, the latest first: all of a status, or the direct subtasks of a task.',
    input: z.strictObject({
      status: statusWordSchema
        .optional()
        .describe('`waiting` holds all that wait: for the user, for other tasks, paused. States may be named as well.'),
      parentTaskId: taskIdSchema.optional().describe('Only direct subtasks of this task.'),
      limit: limitSchema.default(usualLimit),
    }),
    output: z.object({ tasks: z.array(taskItemSchema), total: z.number() }),
    scope: ({ parentTaskId }) => idsIn(parentTaskId),
    handle: ({ status, parentTaskId, limit }, { caller }) =>
      host.read(function* (tx) {
        yield* requireOwn(tx, caller, idsIn(parentTaskId))
        const wanted = {
          ...(status === undefined ? {} : filterByWord(status)),
          ...(parentTaskId === undefined ? {} : { parentId: parentTaskId }),
        }
        const filter = amongOwn(wanted, caller)
        const found = yield* tx.task.newest(filter, limit, 0)
        return { tasks: found.map(toItem), total: yield* tx.task.count(filter) }
      }),
  })
}
