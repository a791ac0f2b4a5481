// task:get, task:list, task:active and task:stream: the status of tasks and their output. A caller with a task sees what is below it.
import { z } from 'zod'
import { askUser, waitForTasks } from '../../../agents/loop/toolbox.ts'
import { defineAbility } from '../../../bus/ability.ts'
import type { Bus } from '../../../bus/bus.ts'
import { statusWordSchema } from '../../../entities/status-filter.ts'
import { openStatuses } from '../../../entities/task.ts'
import type { AbilityHost } from '../../../operations/ability-host.ts'
import { belowCaller, idsIn } from '../../../operations/own-tasks.ts'
import { requireOwn } from '../../../operations/steps/conditions.ts'
import { loadTask } from '../../../operations/steps/step-context.ts'
import { defaultLimit, limitSchema, taskIdSchema } from '../../../operations/task/task-input.ts'
import { filterByProcessStatus } from '../views/status-mapping.ts'
import { OutputProjection, taskOutputSchema } from '../views/task-output.ts'
import { readDetail, taskDetailSchema, taskItemSchema, toItem } from '../views/task-view.ts'

/** @throws ErrandError NOT_FOUND for an unknown id */
export function taskGet(host: AbilityHost) {
  return defineAbility({
    id: 'task:get',
    access: 'read',
    description: 'Shows one task: its status, result, questions, and optionally its conversation.',
    input: z.strictObject({
      taskId: taskIdSchema,
      includeContext: z.boolean().default(false).describe('Includes the whole conversation. Default false.'),
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

/** `total` counts all matches. */
export function taskList(host: AbilityHost) {
  return defineAbility({
    id: 'task:list',
    access: 'read',
    description: 'Lists tasks, latest first: all of a status, or the direct subtasks of a task.',
    input: z.strictObject({
      status: statusWordSchema
        .optional()
        .describe(
          '`waiting` includes tasks that wait for the user or other tasks, and paused ones. The engine’s statuses are accepted as well.',
        ),
      parentTaskId: taskIdSchema.optional().describe('Only direct subtasks of this task.'),
      limit: limitSchema.default(defaultLimit),
    }),
    output: z.object({ tasks: z.array(taskItemSchema), total: z.number() }),
    scope: ({ parentTaskId }) => idsIn(parentTaskId),
    handle: ({ status, parentTaskId, limit }, { caller }) =>
      host.read(function* (tx) {
        yield* requireOwn(tx, caller, idsIn(parentTaskId))
        const filter = belowCaller({ ...(status && filterByProcessStatus(status)), parentId: parentTaskId }, caller)
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

/** Ends with the task; for an ended task it replays everything. @throws ErrandError NOT_FOUND for an unknown id */
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

/** The tool names for models; abilities that are not offered to models are named alike. */
function toolNames(bus: Bus, taskId: string): (abilityId: string) => string {
  return (abilityId) =>
    bus.toolsFor({ surface: 'model', taskId }, [askUser, waitForTasks]).nameOf(abilityId) ??
    abilityId.replaceAll(':', '_')
}
