// task:calls: the calls of a task with their params and outcomes, page by page.
import { z } from 'zod'
import { toCall } from '../../entities/call.ts'
import { callSchema } from '../views/run-view.ts'
import { nextSchema, taskPage } from './define-page.ts'

export const taskCalls = taskPage({
  id: 'task:calls',
  description: 'Lists the calls of a task, oldest first, page by page.',
  routes: [
    {
      endpoint: 'GET /tasks/{taskId}/calls',
      tag: 'Tasks',
      operationId: 'listCalls',
      summary: 'List the calls of a task',
    },
  ],
  output: () => z.object({ calls: z.array(callSchema()), next: nextSchema }),
  read: (tx, taskId, after, limit, generation) => tx.call.page(taskId, after, limit, generation),
  positionOf: ({ seq }) => seq,
  toOutput: (calls, next) => ({ calls: calls.map(toCall), next }),
})
