// task:runs: the runs of a task, each one stretch of work.
import { z } from 'zod'
import { runSchema } from '../views/run-view.ts'
import { taskRead } from './task-read.ts'

export const taskRuns = taskRead({
  id: 'task:runs',
  description: 'Lists the runs of a task, the oldest first.',
  output: z.object({ runs: z.array(runSchema) }),
  *read(tx, taskId) {
    return { runs: yield* tx.run.list(taskId) }
  },
})
