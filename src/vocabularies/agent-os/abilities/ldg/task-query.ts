// ldg:task:query: records of tasks by how they ended, parent and time of creation, the latest first.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { limitSchema, taskIdSchema, usualLimit } from '../../../../abilities/task/task-input.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import { taskStatuses } from '../../../../entities/task.ts'
import type { TaskFilter } from '../../../../ledger/ledger.ts'
import { filterByCompletion } from '../../views/status-words.ts'
import { type LedgerTask, readLedgerTask, taskRecordSchema } from '../../views/task-view.ts'

const time = z.number().min(0).max(8.64e15)
const querySchema = z.strictObject({
  completionStatus: z
    .string()
    .nullable()
    .optional()
    .describe('`null`, as text or as JSON: not settled. `failed`: any failure, `failed: why`: that one. Default: all.'),
  status: z.enum(taskStatuses).optional().describe('The state itself.'),
  parentTaskId: taskIdSchema.optional().describe('Only direct subtasks of this task.'),
  fromTime: time.optional().describe('Created then or later, in epoch milliseconds.'),
  toTime: time.optional().describe('Created then or earlier, in epoch milliseconds.'),
  limit: limitSchema.default(usualLimit),
  offset: z.int().min(0).default(0),
})

/** `total` counts all that match. */
export function ldgTaskQuery(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:task:query',
    access: 'read',
    description: 'Finds task records, the latest first.',
    input: querySchema,
    output: z.object({ tasks: z.array(taskRecordSchema), total: z.number() }),
    models: false,
    handle: (query) =>
      host.read(function* (tx) {
        const filter = filterOf(query)
        const tasks: LedgerTask[] = []
        for (const task of yield* tx.task.newest(filter, query.limit, query.offset)) {
          tasks.push(yield* readLedgerTask(tx, task))
        }
        return { tasks, total: yield* tx.task.count(filter) }
      }),
  })
}

function filterOf({
  completionStatus,
  status,
  parentTaskId,
  fromTime,
  toTime,
}: z.output<typeof querySchema>): TaskFilter {
  const completion = filterByCompletion(completionStatus)
  const statuses =
    status === undefined ? undefined : (completion.statuses ?? [status]).filter((each) => each === status)
  return {
    ...completion,
    ...(statuses === undefined ? {} : { statuses }),
    ...(parentTaskId === undefined ? {} : { parentId: parentTaskId }),
    ...(fromTime === undefined ? {} : { createdFrom: Math.ceil(fromTime) }),
    ...(toTime === undefined ? {} : { createdTo: Math.floor(toTime) }),
  }
}
