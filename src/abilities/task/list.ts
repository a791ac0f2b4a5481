// task:list: tasks as rows of a list or a tree, the oldest first, now or as they stood at a position of the feed.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { filterByStatus, statusFilterSchema } from '../../entities/status-filter.ts'
import type { Op, Reads, TaskFilter } from '../../ledger/ledger.ts'
import { requireCursor } from '../../steps/purge.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../key-case.ts'
import { amongOwn, idsIn, refuseTasks, requireOwn } from '../own-tasks.ts'
import { positionSchema } from '../views/event-view.ts'
import { type TaskRow, taskRowSchema, toPastRow, toRow } from '../views/task-row.ts'
import { defaultLimit, taskIdSchema } from './task-input.ts'

const word = z.string().trim().min(1).max(500)

const inputSchema = z
  .strictObject({
    status: statusFilterSchema
      .optional()
      .describe(
        'One state, or several; words like `pending`, `running`, `active` stand for the states that they mean.',
      ),
    type: word.optional().describe('What kind of work it is, of tasks with a team.'),
    parentId: taskIdSchema.nullable().optional().describe('Only direct subtasks of this task; null for roots.'),
    executor: word.optional(),
    owner: word.optional(),
    tag: word.optional(),
    keyPrefix: word.optional().describe('How the key of their creation begins.'),
    text: word.optional().describe('Words that all stand in the name, the goal or the description, or begin the id.'),
    ids: z.array(taskIdSchema).max(1_000).optional(),
    at: positionSchema.optional().describe('How they stood at this position of the feed. Only with `ids`, or alone.'),
    after: positionSchema.default(0).describe('The `next` of the page before. Default: from the beginning.'),
    limit: z.int().min(1).max(5_000).default(defaultLimit),
  })
  .refine(
    ({ at, status, type, parentId, executor, owner, tag, keyPrefix, text }) =>
      at === undefined ||
      [status, type, parentId, executor, owner, tag, keyPrefix, text].every((filter) => filter === undefined),
    {
      path: ['at'],
      message: 'of the past there are all tasks, or those that `ids` names: leave the other filters out',
    },
  )
const { status, parentId, ids, after, limit } = inputSchema.shape
/** What models are offered: keys, owners and the past are for programs. */
const modelFields = { status, parentId, ids, after, limit }
type ListInput = z.output<typeof inputSchema>

function namedIn({ parentId, ids = [] }: ListInput): string[] {
  return [...idsIn(parentId ?? undefined), ...ids]
}

/** `total` counts all that match now; null of the past. `seq` is where the feed stood: what comes after it is not in the answer. */
export function taskList(host: AbilityHost) {
  return defineAbility({
    id: 'task:list',
    access: 'read',
    description:
      'Lists tasks as rows, the oldest first, page by page: now, or as they stood at a position of the feed.',
    input: eitherCase(inputSchema, { taskType: 'type' }),
    modelInput: z.strictObject(modelFields),
    output: z.object({
      tasks: z.array(taskRowSchema),
      total: z.int().nullable(),
      /** Position for the next page; null on the last. */
      next: positionSchema.nullable(),
      seq: positionSchema,
    }),
    scope: namedIn,
    handle: (input, { caller }) =>
      host.read(function* (tx) {
        yield* requireOwn(tx, caller, namedIn(input))
        if (input.at !== undefined) refuseTasks(caller, 'task:list of the past')
        const seq = yield* tx.event.last()
        const filter = amongOwn(filterOf(input), caller)
        const found = yield* page(tx, input, filter, Math.min(input.at ?? seq, seq))
        const tasks = found.slice(0, input.limit)
        const more = found.length > input.limit
        return {
          tasks,
          total: input.at === undefined ? yield* tx.task.count(filter) : null,
          next: more ? (tasks.at(-1) as TaskRow).seq : null,
          seq,
        }
      }),
  })
}

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
