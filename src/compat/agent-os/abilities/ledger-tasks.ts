// ldg:task:get, ldg:task:query and ldg:task:save: the records of tasks. Saving is for programs that work on tasks themselves and keep
// them in the ledger; tasks run by an engine change by their own verbs.
import { z } from 'zod'
import { defineAbility } from '../../../bus/ability.ts'
import { taskStatuses } from '../../../entities/task.ts'
import { isGivenId, maxTaskIdLength } from '../../../entities/task-id.ts'
import type { TaskFilter } from '../../../ledger/ledger.ts'
import type { AbilityHost } from '../../../operations/ability-host.ts'
import { saveTask } from '../../../operations/steps/save-task.ts'
import { requestedBy } from '../../../operations/steps/step-context.ts'
import { defaultLimit, limitSchema, taskIdSchema } from '../../../operations/task/task-input.ts'
import { filterByCompletion, parseCompletionStatus } from '../views/status-mapping.ts'
import { type LedgerTask, readLedgerTask, taskRecordSchema } from '../views/task-view.ts'

/** null for an unknown id and for a deleted task. */
export function ldgTaskGet(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:task:get',
    access: 'read',
    description: 'Reads the record of a task; null when there is none.',
    input: z.strictObject({ taskId: taskIdSchema }),
    output: z.object({ task: taskRecordSchema.nullable() }),
    models: false,
    handle: ({ taskId }) =>
      host.read(function* (tx) {
        const task = yield* tx.task.get(taskId)
        return { task: task === undefined || task.deletedAt !== null ? null : yield* readLedgerTask(tx, task) }
      }),
  })
}

const time = z.number().min(0).max(8.64e15)
const querySchema = z.strictObject({
  completionStatus: z
    .string()
    .nullable()
    .optional()
    .describe('`null`, as text or as JSON: not settled. `failed`: any failure, `failed: why`: that one. Default: all.'),
  status: z.enum(taskStatuses).optional().describe('The status.'),
  parentTaskId: taskIdSchema.optional().describe('Only direct subtasks of this task.'),
  fromTime: time.optional().describe('Only records created at or after this time, in epoch milliseconds.'),
  toTime: time.optional().describe('Only records created at or before this time, in epoch milliseconds.'),
  limit: limitSchema.default(defaultLimit),
  offset: z.int().min(0).default(0),
})

/** Filters by outcome, parent and time of creation. `total` counts all matches. */
export function ldgTaskQuery(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:task:query',
    access: 'read',
    description: 'Finds task records, latest first.',
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

function filterOf(query: z.output<typeof querySchema>): TaskFilter {
  const { completionStatus, status, parentTaskId: parentId, fromTime, toTime } = query
  const { statuses, failedWith } = filterByCompletion(completionStatus)
  return {
    statuses: status === undefined ? statuses : (statuses ?? [status]).filter((each) => each === status),
    failedWith,
    parentId,
    createdFrom: fromTime && Math.ceil(fromTime),
    createdTo: toTime && Math.floor(toTime),
  }
}

/** Other fields of a record are ignored, so a record that was read can be saved unchanged. */
const recordSchema = z.object({
  id: z
    .string()
    .refine(
      isGivenId,
      `expected an id of at most ${maxTaskIdLength} letters, digits, hyphens and underscores, like \`task-abc123\` or a UUID`,
    ),
  parentTaskId: taskIdSchema.nullish(),
  completionStatus: z.string().nullish(),
  systemPrompt: z.string().trim().min(1).optional(),
  createdAt: z.int().min(0).max(8.64e15).optional(),
  updatedAt: z.int().min(0).max(8.64e15).optional(),
})

/**
 * Creates an unknown id, WORKING by hand, and moves it to the status of the record. An existing task moves along legal edges only;
 * saving the same status changes nothing. `updatedAt` is used if it is later than the stored one, else the time of the save.
 */
export function ldgTaskSave(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:task:save',
    description: 'Saves a task record: creates it, or changes its status.',
    input: z.strictObject({ task: recordSchema }),
    output: z.object({ success: z.boolean() }),
    models: false,
    async handle({ task }, { caller }) {
      const ctx = requestedBy(await host.stepContext(), caller)
      const { treeLimits } = host.drafter
      await host.step(
        saveTask({
          ...ctx,
          treeLimits,
          caller,
          id: task.id,
          parentId: task.parentTaskId ?? undefined,
          systemPrompt: task.systemPrompt,
          outcome: parseCompletionStatus(task.completionStatus),
          createdAt: task.createdAt ?? ctx.at,
          updatedAt: task.updatedAt,
        }),
      )
      return { success: true }
    },
  })
}
