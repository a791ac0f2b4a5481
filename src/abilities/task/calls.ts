// task:calls: the journal of a task: what it called, with what, and what came of it.
import { z } from 'zod'
import { toCall } from '../../entities/call.ts'
import { callSchema } from '../views/run-view.ts'
import { taskRead } from './task-read.ts'

export const taskCalls = taskRead({
  id: 'task:calls',
  description: 'Lists the calls of a task, the oldest first.',
  output: z.object({ calls: z.array(callSchema) }),
  *read(tx, taskId) {
    return { calls: (yield* tx.call.list(taskId, ['call'])).map(toCall) }
  },
})
