// task:why: explains why a task does not run, and what would help.
import { z } from 'zod'
import { taskStatuses } from '../../entities/task.ts'
import { type Why, whyReasons } from '../../entities/views.ts'
import { defineOperation } from '../define-operation.ts'
import { requireOwn } from '../steps/conditions.ts'
import { explain } from '../steps/explain.ts'
import { numbered } from '../steps/explain-other-tasks.ts'
import type { ChangeContext } from './define-change.ts'
import { taskIdSchema } from './task-input.ts'

/** Not offered to models, which have `task:get` and `task:messages`. NOT_FOUND for an unknown id. */
export const taskWhy = defineOperation({
  id: 'task:why',
  access: 'read',
  description: 'Explains why a task does not run, and what would help.',
  routes: [
    {
      endpoint: 'GET /tasks/{taskId}/why',
      tag: 'Tasks',
      operationId: 'explainTask',
      summary: 'Explain why a task does not run',
    },
  ],
  input: () => z.strictObject({ taskId: taskIdSchema }),
  output: () =>
    z.object({
      taskId: z.string(),
      status: z.enum(taskStatuses),
      reason: z.enum(whyReasons),
      message: z.string(),
      /** Ids of the tasks that it waits for, that block it, or that use its lane. */
      tasks: z.array(z.string()),
      /** When its timer fires, in epoch milliseconds; null if it has none. */
      at: z.number().nullable(),
    }),
  models: false,
  own: true,
  scope: ({ taskId }) => [taskId],
  handle: ({ taskId }, { caller }, host) => readWhy({ host, caller }, taskId),
})

/** Also serves `engine.why`. */
export async function readWhy({ host, caller }: ChangeContext, taskId: string): Promise<Why> {
  const lost = await host.lostRuns()
  const now = { at: host.clock.now(), latestPieceAt: host.latestPieceAt(taskId) }
  return await host.read(function* (tx) {
    yield* requireOwn(tx, caller, [taskId])
    const why = yield* explain(tx, taskId, host.isWorking() ? host.canRun : null, lost, now)
    return { ...why, message: yield* numbered(tx, why.message) }
  })
}
