// task:why: explains why a task does not run, and what would help.
import { z } from 'zod'
import { taskStatuses } from '../../entities/task.ts'
import { whyReasons } from '../../entities/views.ts'
import { explain } from '../steps/explain.ts'
import { numbered } from '../steps/explain-other-tasks.ts'
import { taskRead } from './define-read.ts'

export const taskWhy = taskRead({
  id: 'task:why',
  description: 'Explains why a task does not run, and what would help.',
  routes: [
    {
      endpoint: 'GET /tasks/{taskId}/why',
      tag: 'Tasks',
      operationId: 'explainTask',
      summary: 'Explain why a task does not run',
    },
  ],
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
  *read(tx, taskId, host) {
    const now = { at: host.clock.now(), latestPieceAt: host.latestPieceAt(taskId) }
    const why = yield* explain(tx, taskId, host.isWorking() ? host.canRun : null, now)
    return { ...why, message: yield* numbered(tx, why.message) }
  },
})
