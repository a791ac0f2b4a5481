// task:list: tasks as rows of a list or a tree, oldest first, now or at an earlier position of the feed.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { filterShape } from '../../entities/filter-options.ts'
import type { Op, Reads, TaskFilter } from '../../ledger/ledger.ts'
import { defineOperation } from '../define-operation.ts'
import { eitherCase } from '../key-case.ts'
import { belowCaller, idsIn, refuseAllTasks } from '../own-tasks.ts'
import { requireOwn } from '../steps/conditions.ts'
import { requireCursor } from '../steps/purge.ts'
import { filterOf } from '../task-filter.ts'
import { positionSchema } from '../views/event-view.ts'
import { allAsShown } from '../views/lost-runs.ts'
import { type TaskRow, taskRowSchema, toPastRow, toRow } from '../views/task-row.ts'
import { defaultLimit } from './task-input.ts'

const inputSchema = once(() =>
  z
    .strictObject({
      ...filterShape(),
      at: positionSchema()
        .optional()
        .describe('Return the tasks as of this position of the feed. No other filter than `ids` is allowed with it.'),
      after: positionSchema().default(0).describe('The `next` of the previous page. Default: from the beginning.'),
      limit: z.int().min(1).max(5_000).default(defaultLimit),
    })
    .refine(
      ({ at, ids: _ids, after: _after, limit: _limit, ...filter }) =>
        at === undefined || Object.values(filter).every((each) => each === undefined),
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
  own: true,
  scope: namedIn,
  async handle(input, { caller }, host) {
    const { tasks, ...rest } = await host.read(function* (tx) {
      yield* requireOwn(tx, caller, namedIn(input))
      if (input.at !== undefined) refuseAllTasks(caller, 'task:list of the past')
      const seq = yield* tx.event.last()
      const { at: _at, after: _after, limit: _limit, ...given } = input
      const filter = belowCaller(filterOf(given), caller)
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
