// task:runs: the runs of a task, page by page.
import { z } from 'zod'
import { runSchema } from '../views/run-view.ts'
import { nextSchema, taskPage } from './define-page.ts'

export const taskRuns = taskPage({
  id: 'task:runs',
  description: 'Lists the runs of a task, oldest first, page by page.',
  routes: [
    { endpoint: 'GET /tasks/{taskId}/runs', tag: 'Tasks', operationId: 'listRuns', summary: 'List the runs of a task' },
  ],
  output: () => z.object({ runs: z.array(runSchema()), next: nextSchema }),
  *read(tx, taskId, after, limit, generation) {
    const found = yield* tx.run.page(taskId, after, limit + 1, generation)
    return { rows: found.slice(0, limit), isLast: found.length <= limit }
  },
  positionOf: ({ number }) => number,
  toOutput: (runs, next) => ({ runs, next }),
})
