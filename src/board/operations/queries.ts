// The abilities that read a board: a task, a list, claimable tasks, why a task does not move, the graph and the claims of a task.
import { z } from 'zod'
import { boardRefSchema, boardStatuses } from '../../entities/board.ts'
import { wordSchema } from '../../entities/task-fields.ts'
import { asSchema } from '../../operations/acting-as.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { listText } from '../list-text.ts'
import {
  claimLogOf,
  claimLogSchema,
  getFromBoard,
  graphOfBoard,
  listBoard,
  readyOnBoard,
  whyOnBoard,
  whySchema,
} from '../read-board.ts'
import { boardSchema, boardTaskSchema, idsAmong, oneTaskSchema, tagsSchema, taskSchema } from './board-input.ts'

/** An unknown task is NOT_FOUND `Task 9 not found`. */
export const boardGet = defineOperation({
  id: 'board:get',
  access: 'read',
  description: 'Returns one task of the board with all its fields.',
  input: oneTaskSchema,
  output: taskSchema,
  scope: ({ id }) => idsAmong(id),
  handle: async ({ id, board }, { caller }, host) => ({ task: await getFromBoard(host, { board, caller }, id) }),
})

/** `total` counts all matching tasks; `text` is the same list with one line per task. */
export const boardList = defineOperation({
  id: 'board:list',
  access: 'read',
  description: 'Lists the tasks of the board by number, optionally by status, owner, role, tag or parent.',
  input: () =>
    z.strictObject({
      status: z.union([z.enum(boardStatuses), z.array(z.enum(boardStatuses)).min(1)]).optional(),
      owner: asSchema.optional().describe('Only tasks of this owner.'),
      role: wordSchema.optional(),
      tags: tagsSchema.optional(),
      parent: boardRefSchema.optional().describe('Only subtasks of this task.'),
      limit: z.int().min(0).max(10_000).default(500),
      board: boardSchema,
    }),
  output: () => z.object({ tasks: z.array(boardTaskSchema()), total: z.number(), text: z.string() }),
  scope: ({ parent }) => idsAmong(parent),
  handle: async ({ status, board, limit, ...filter }, { caller }, host) => {
    const statuses = status === undefined ? undefined : [status].flat()
    const { tasks, total } = await listBoard(host, { board, caller }, { ...filter, statuses }, limit)
    return { tasks, total, text: listText(tasks, total) }
  },
})

export const boardReady = defineOperation({
  id: 'board:ready',
  access: 'read',
  description:
    'Lists the tasks that can be claimed now: pending, without owner and without open blockers; highest priority first.',
  input: () =>
    z.strictObject({
      role: wordSchema.optional(),
      tags: tagsSchema.optional(),
      parent: boardRefSchema.optional(),
      limit: z.int().min(0).max(1_000).default(100),
      board: boardSchema,
    }),
  output: () => z.object({ tasks: z.array(boardTaskSchema()), total: z.number() }),
  scope: ({ parent }) => idsAmong(parent),
  handle: ({ board, limit, ...filter }, { caller }, host) => readyOnBoard(host, { board, caller }, filter, limit),
})

export const boardWhy = defineOperation({
  id: 'board:why',
  access: 'read',
  description: 'Explains why a task does not progress: its blockers, its owner, or what it waits for.',
  input: oneTaskSchema,
  output: whySchema,
  scope: ({ id }) => idsAmong(id),
  handle: ({ id, board }, { caller }, host) => whyOnBoard(host, { board, caller }, id),
})

export const boardGraph = defineOperation({
  id: 'board:graph',
  access: 'read',
  description: 'Returns the open tasks in an order in which they can be done, and those that block the most others.',
  input: () => z.strictObject({ board: boardSchema }),
  output: () =>
    z.object({
      order: z.array(boardTaskSchema()),
      critical: z.array(z.object({ id: boardRefSchema, holdsUp: z.number() })),
    }),
  handle: ({ board }, { caller }, host) => graphOfBoard(host, { board, caller }),
})

export const boardLog = defineOperation({
  id: 'board:log',
  access: 'read',
  description: 'Lists the claims of a task, oldest first: who claimed or released it, when, in which role, and why.',
  input: oneTaskSchema,
  output: () => z.object({ claims: z.array(claimLogSchema()) }),
  scope: ({ id }) => idsAmong(id),
  handle: async ({ id, board }, { caller }, host) => ({ claims: await claimLogOf(host, { board, caller }, id) }),
})
