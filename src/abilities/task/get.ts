// task:get: one task whole, with what it comes after and what comes after it.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { type Caller, isModel } from '../../bus/caller.ts'
import type { Task, TaskRecord } from '../../entities/task.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { dependenciesOf } from '../../steps/explain.ts'
import { loadTask } from '../../steps/step-context.ts'
import { viewsOf } from '../../steps/views.ts'
import type { AbilityHost } from '../ability-host.ts'
import { ownAmong, requireOwn } from '../own-tasks.ts'
import { taskRowSchema, toRow } from '../views/task-row.ts'
import { wholeTaskSchema } from '../views/whole-task.ts'
import { taskIdSchema } from './task-input.ts'

/** Of those that come after a task so many are shown: there may be as many as there are tasks. */
const maxDependents = 1_000

/** An unknown id is NOT_FOUND. A caller with a task sees those of its neighbours that are its own. */
export function taskGet(host: AbilityHost) {
  return defineAbility({
    id: 'task:get',
    access: 'read',
    description: 'Shows one task whole, with the tasks that it comes after and those that come after it.',
    input: z.strictObject({ taskId: taskIdSchema }),
    output: z.object({
      task: wholeTaskSchema.partial({ fence: true, leaseUntil: true, key: true, input: true }),
      /** Its branch of memory, which its team has in common; null where it has none. */
      branch: z.string().nullable(),
      /** What it was told to come after, satisfied or not, in order. */
      dependencies: z.array(taskRowSchema),
      /** Open tasks that come after it: at most 1,000. */
      dependents: z.array(taskRowSchema),
      /** Where the feed stood. */
      seq: z.int(),
    }),
    scope: ({ taskId }) => [taskId],
    handle: ({ taskId }, { caller }) =>
      host.read(function* (tx) {
        yield* requireOwn(tx, caller, [taskId])
        const task = yield* loadTask(tx, taskId)
        const [view] = yield* viewsOf(tx, [task])
        return {
          task: shownTo(caller, view as Task),
          branch: (yield* tx.branch.ofTask(taskId))?.name ?? null,
          dependencies: (yield* ownAmong(tx, caller, yield* dependenciesOf(tx, taskId))).map(toRow),
          dependents: (yield* ownAmong(tx, caller, yield* dependentsOf(tx, taskId))).map(toRow),
          seq: yield* tx.event.last(),
        }
      }),
  })
}

/** A model gets neither the token of somebody's claim, nor the key and the input that a program gave. */
function shownTo(caller: Caller, task: Task): Partial<Task> & Omit<Task, 'fence' | 'leaseUntil' | 'key' | 'input'> {
  if (!isModel(caller)) return task
  const { fence: _fence, leaseUntil: _leaseUntil, key: _key, input: _input, ...shown } = task
  return shown
}

function* dependentsOf(tx: Reads, taskId: string): Op<TaskRecord[]> {
  const found: TaskRecord[] = []
  for (const { taskId: dependent } of yield* tx.dependency.dependents(taskId, maxDependents)) {
    const task = yield* tx.task.get(dependent)
    if (task !== undefined && task.deletedAt === null) found.push(task)
  }
  return found
}
