// task:get: one whole task, with its blockers and dependents.
import { z } from 'zod'
import { type Caller, isModel } from '../../bus/caller.ts'
import { briefError } from '../../core/errors.ts'
import type { Task, TaskRecord } from '../../entities/task.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { defineOperation } from '../define-operation.ts'
import { visibleAmong } from '../own-tasks.ts'
import { requireOwn } from '../steps/conditions.ts'
import { dependenciesOf } from '../steps/explain.ts'
import { loadTask } from '../steps/step-context.ts'
import { viewsOf } from '../steps/views.ts'
import { thrownErrorSchema } from '../views/error-view.ts'
import { allAsShown } from '../views/lost-runs.ts'
import { taskRowSchema, toRow } from '../views/task-row.ts'
import { wholeTaskSchema } from '../views/whole-task.ts'
import { taskIdSchema } from './task-input.ts'

/** Limit for the dependents shown; there may be as many as there are tasks. */
const maxDependents = 1_000

/** NOT_FOUND for an unknown id. A caller with a task only sees neighbours within its own subtree. */
export const taskGet = defineOperation({
  id: 'task:get',
  access: 'read',
  description: 'Returns one task with all its fields, its blockers and its dependents.',
  routes: [{ endpoint: 'GET /tasks/{taskId}', tag: 'Tasks', operationId: 'getTask', summary: 'Get a task' }],
  input: () => z.strictObject({ taskId: taskIdSchema }),
  output: () =>
    z.object({
      task: wholeTaskSchema()
        .partial({ fence: true, leaseUntil: true, key: true, input: true })
        .extend({ error: thrownErrorSchema().nullable() }),
      /** Memory branch that the task's team shares; null if it has none. */
      branch: z.string().nullable(),
      /** The blockers that were set, satisfied or not, in order. */
      dependencies: z.array(taskRowSchema()),
      /** Open tasks that this one blocks: at most 1,000. */
      dependents: z.array(taskRowSchema()),
      /** End of the feed at the time of the read. */
      seq: z.int(),
    }),
  own: true,
  scope: ({ taskId }) => [taskId],
  async handle({ taskId }, { caller }, host) {
    const { view, dependencies, dependents, ...found } = await host.read(function* (tx) {
      yield* requireOwn(tx, caller, [taskId])
      const task = yield* loadTask(tx, taskId)
      return {
        view: yield* viewsOf(tx, [task]),
        branch: (yield* tx.branch.ofTask(taskId))?.name ?? null,
        dependencies: (yield* visibleAmong(tx, caller, yield* dependenciesOf(tx, taskId))).map(toRow),
        dependents: (yield* visibleAmong(tx, caller, yield* dependentsOf(tx, taskId))).map(toRow),
        seq: yield* tx.event.last(),
      }
    })
    const [task] = await allAsShown(host, view)
    return {
      ...found,
      task: redactedFor(caller, task as Task),
      dependencies: await allAsShown(host, dependencies),
      dependents: await allAsShown(host, dependents),
    }
  },
})

/** Removes the fence of a claim, the key and the input that a program set, and the stack of an error, for a model. */
function redactedFor(caller: Caller, task: Task): Partial<Task> & Omit<Task, 'fence' | 'leaseUntil' | 'key' | 'input'> {
  if (!isModel(caller)) return task
  const { fence: _fence, leaseUntil: _leaseUntil, key: _key, input: _input, ...shown } = task
  return { ...shown, error: task.error && briefError(task.error) }
}

function* dependentsOf(tx: Reads, taskId: string): Op<TaskRecord[]> {
  const found: TaskRecord[] = []
  for (const { taskId: dependent } of yield* tx.dependency.dependents(taskId, maxDependents)) {
    const task = yield* tx.task.get(dependent)
    if (task !== undefined && task.deletedAt === null) found.push(task)
  }
  return found
}
