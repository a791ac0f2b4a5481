// task:get, task:list, task:active and task:stream: how tasks stand, and what they give. A caller with a task sees what is below it.
import { z } from 'zod'
import type { AbilityHost } from '../../../abilities/ability-host.ts'
import { belowCaller, idsIn, requireOwn } from '../../../abilities/own-tasks.ts'
import { defaultLimit, limitSchema, taskIdSchema } from '../../../abilities/task/task-input.ts'
import { defineAbility } from '../../../bus/ability.ts'
import type { Bus } from '../../../bus/bus.ts'
import { statusWordSchema } from '../../../entities/status-filter.ts'
import { openStatuses } from '../../../entities/task.ts'
import { askUser, waitForTasks } from '../../../executors/agent/toolbox.ts'
import { loadTask } from '../../../steps/step-context.ts'
import { filterByWord } from '../views/status-mapping.ts'
import { OutputProjection, taskOutputSchema } from '../views/task-output.ts'
import { readDetail, taskDetailSchema, taskItemSchema, toItem } from '../views/task-view.ts'

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

/** `total` counts all that match. */
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
      limit: limitSchema.default(defaultLimit),
    }),
    output: z.object({ tasks: z.array(taskItemSchema), total: z.number() }),
    scope: ({ parentTaskId }) => idsIn(parentTaskId),
    handle: ({ status, parentTaskId, limit }, { caller }) =>
      host.read(function* (tx) {
        yield* requireOwn(tx, caller, idsIn(parentTaskId))
        const filter = belowCaller({ ...(status && filterByWord(status)), parentId: parentTaskId }, caller)
        const found = yield* tx.task.newest(filter, limit, 0)
        return { tasks: found.map(toItem), total: yield* tx.task.count(filter) }
      }),
  })
}

export function taskActive(host: AbilityHost) {
  return defineAbility({
    id: 'task:active',
    access: 'read',
    description: 'Lists the tasks that have not ended: running, waiting, paused or queued.',
    input: z.strictObject({ limit: limitSchema.default(defaultLimit) }),
    output: z.object({ tasks: z.array(taskItemSchema) }),
    handle: ({ limit }, { caller }) =>
      host.read(function* (tx) {
        const filter = belowCaller({ statuses: [...openStatuses] }, caller)
        return { tasks: (yield* tx.task.newest(filter, limit, 0)).map(toItem) }
      }),
  })
}

/** Ends with the task; of a task that has ended it gives all, and ends. An unknown id is NOT_FOUND. */
export function taskStream(host: AbilityHost, bus: Bus) {
  return defineAbility({
    id: 'task:stream',
    access: 'read',
    description: 'Streams the output of a task: its text as it comes, its calls and their results, and its end.',
    input: z.strictObject({ taskId: taskIdSchema }),
    output: taskOutputSchema,
    scope: ({ taskId }) => [taskId],
    async *stream({ taskId }, { caller, signal }) {
      const engine = await host.engineFor(caller)
      const projection = new OutputProjection(toolNames(bus, taskId))
      for await (const item of engine.stream(taskId, { signal })) yield* projection.outputOf(item)
    },
  })
}

/** The names that models know; what is not offered to them is spelled alike. */
function toolNames(bus: Bus, taskId: string): (abilityId: string) => string {
  return (abilityId) =>
    bus.toolsFor({ surface: 'model', taskId }, [askUser, waitForTasks]).nameOf(abilityId) ??
    abilityId.replaceAll(':', '_')
}
