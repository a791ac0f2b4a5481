// task:list: tasks as rows of a list or a tree, oldest first, now or at an earlier position of the feed.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { filterByStatus, statusFilterSchema } from '../../entities/status-filter.ts'
import type { Op, Reads, TaskFilter } from '../../ledger/ledger.ts'
import { defineOperation } from '../define-operation.ts'
import { eitherCase } from '../key-case.ts'
import { belowCaller, idsIn, refuseTasks, requireOwn } from '../own-tasks.ts'
import { requireCursor } from '../steps/purge.ts'
import { positionSchema } from '../views/event-view.ts'
import { allAsShown } from '../views/lost-runs.ts'
import { type TaskRow, taskRowSchema, toPastRow, toRow } from '../views/task-row.ts'
import { defaultLimit, taskIdSchema } from './task-input.ts'

const shortText = once(() => z.string().trim().min(1).max(500))

const inputSchema = once(() =>
  z
    .strictObject({
      status: statusFilterSchema
        .optional()
        .describe('One status or several; `pending`, `running` and `active` stand for groups of statuses.'),
      type: shortText().optional().describe('Type of work, for tasks with a team.'),
      parentId: taskIdSchema.nullable().optional().describe('Only direct subtasks of this task; null for roots.'),
      executor: shortText().optional(),
      owner: shortText().optional(),
      tag: shortText().optional(),
      keyPrefix: shortText().optional().describe('Prefix of the key with which tasks were created.'),
      text: shortText()
        .optional()
        .describe('Words that must all occur in the name, goal or description, or a prefix of the id.'),
      ids: z.array(taskIdSchema).max(1_000).optional(),
      at: positionSchema()
        .optional()
        .describe('Return the tasks as of this position of the feed. No other filter than `ids` is allowed with it.'),
      after: positionSchema().default(0).describe('The `next` of the previous page. Default: from the beginning.'),
      limit: z.int().min(1).max(5_000).default(defaultLimit),
    })
    .refine(
      ({ at, status, type, parentId, executor, owner, tag, keyPrefix, text }) =>
        at === undefined ||
        [status, type, parentId, executor, owner, tag, keyPrefix, text].every((filter) => filter === undefined),
      {
        path: ['at'],
        message: 'with `at` only the filter `ids` is allowed: remove the others',
      },
    ),
)
type ListInput = z.output<ReturnType<typeof inputSchema>>

function namedIn({ parentId, ids = [] }: ListInput): string[] {
  return [...idsIn(parentId ?? undefined), ...ids]
}

/**
 * `total` counts all current matches; null with `at`. `seq` is the end of the feed at the time of the read: later events are not included.
 */
export const taskList = defineOperation({
  id: 'task:list',
  access: 'read',
  description: 'Lists tasks as rows, oldest first, page by page: as of now, or as of a position of the feed.',
  routes: [{ endpoint: 'GET /tasks', tag: 'Tasks', operationId: 'listTasks', summary: 'List tasks' }],
  input: () => eitherCase(inputSchema(), { taskType: 'type' }),
  /** The filters that models may use; keys, owners and the past are for programs. */
  modelInput: () => {
    const { status, parentId, ids, after, limit } = inputSchema().shape
    return z.strictObject({ status, parentId, ids, after, limit })
  },
  output: () =>
    z.object({
      tasks: z.array(taskRowSchema()),
      total: z.int().nullable(),
      /** Position for the next page; null on the last. */
      next: positionSchema().nullable(),
      seq: positionSchema(),
    }),
  scope: namedIn,
  async handle(input, { caller }, host) {
    const { tasks, ...rest } = await host.read(function* (tx) {
      yield* requireOwn(tx, caller, namedIn(input))
      if (input.at !== undefined) refuseTasks(caller, 'task:list of the past')
      const seq = yield* tx.event.last()
      const filter = belowCaller(filterOf(input), caller)
      const found = yield* page(tx, input, filter, Math.min(input.at ?? seq, seq))
      const tasks = found.slice(0, input.limit)
      const more = found.length > input.limit
      return {
        tasks,
        total: input.at === undefined ? yield* tx.task.count(filter) : null,
        next: more ? (tasks.at(-1) as TaskRow).seq : null,
        seq,
      }
    })
    return { ...rest, tasks: input.at === undefined ? await allAsShown(host, tasks) : tasks }
  },
})

function* page(tx: Reads, { at, ids, limit, after }: ListInput, filter: TaskFilter, position: number): Op<TaskRow[]> {
  if (at === undefined) return (yield* tx.task.oldest(filter, limit + 1, after)).map(toRow)
  yield* requireCursor(tx, position)
  return (yield* tx.task.asOf(position, limit + 1, after, ids)).map(toPastRow)
}

function filterOf({ status, type, parentId, executor, owner, tag, keyPrefix, text, ids }: ListInput): TaskFilter {
  return {
    ...(status === undefined ? {} : filterByStatus(status)),
    ...(type === undefined ? {} : { type }),
    ...(parentId === undefined ? {} : { parentId }),
    ...(executor === undefined ? {} : { executor }),
    ...(owner === undefined ? {} : { owner }),
    ...(tag === undefined ? {} : { tags: [tag] }),
    ...(keyPrefix === undefined ? {} : { keyPrefix }),
    ...(text === undefined ? {} : { words: text.split(/\s+/) }),
    ...(ids === undefined ? {} : { ids }),
  }
}
