// task:graph: an order in which the open tasks can be done, and those that block the most others.
import { z } from 'zod'
import type { TaskGraph } from '../../entities/views.ts'
import { defineOperation } from '../define-operation.ts'
import { idsIn, refuseAllTasks } from '../own-tasks.ts'
import { requireOwn } from '../steps/conditions.ts'
import { graphOf } from '../steps/graph.ts'
import { briefViewsOf } from '../steps/views.ts'
import { allAsShown } from '../views/lost-runs.ts'
import { wholeTaskSchema } from '../views/whole-task.ts'
import type { ChangeContext } from './define-change.ts'
import { taskIdSchema } from './task-input.ts'

export const taskGraph = defineOperation({
  id: 'task:graph',
  access: 'read',
  description: 'Returns the open tasks in an order in which they can be done, and those that block the most others.',
  input: () => z.strictObject({ parentId: taskIdSchema.optional().describe('Only tasks below this task.') }),
  output: () =>
    z.object({
      order: z.array(
        wholeTaskSchema().omit({ goal: true, description: true, input: true, result: true, metadata: true }),
      ),
      critical: z.array(z.object({ taskId: z.string(), holdsUp: z.int() })),
    }),
  models: false,
  own: true,
  scope: ({ parentId }) => idsIn(parentId),
  handle: ({ parentId }, { caller }, host) => readGraph({ host, caller }, parentId),
})

/** Also serves `engine.graph`. */
export async function readGraph({ host, caller }: ChangeContext, parentId: string | undefined): Promise<TaskGraph> {
  if (parentId === undefined) refuseAllTasks(caller, 'task:graph without `parentId`')
  const { order, critical } = await host.read(function* (tx) {
    yield* requireOwn(tx, caller, idsIn(parentId))
    const { order, critical } = yield* graphOf(tx, parentId)
    return { order: yield* briefViewsOf(tx, order), critical }
  })
  return { order: await allAsShown(host, order), critical }
}
